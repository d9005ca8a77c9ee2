#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "caisson/audit/node_key.h"
#include "caisson/audit/signed_head.h"
#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/record/fault.h"

namespace caisson::audit {

// The first wrong line, or what is wrong with the whole. `file`: its name in the audit folder, empty when it is the
// head itself or there are no files. `line`: in that file, from 1.
struct WrongLine {
  std::string file;
  std::uint64_t line = 0;
  record::Fault fault = record::Fault::kChanged;
  std::string why;
};

struct Verified {
  std::uint64_t files = 0;
  std::uint64_t records = 0;    // lines that were read
  std::uint64_t first_seq = 0;  // above 1: files before it were dropped, and a record says so; 0: there is none
  std::uint64_t last_seq = 0;
  std::optional<WrongLine> wrong;  // nothing: all is well
};

// Follows the chain through all files of a sandbox, in constant memory. Without `head` only what breaks the chain
// shows; without `key` the head's signature is not looked at. A record that is being written meanwhile may show as
// torn. Errors: kInvalidArgument for a head of another sandbox, and those of the system calls.
Result<Verified> VerifyFiles(const os::Fd& data_folder, const SandboxId& sandbox, const std::optional<SignedHead>& head,
                             const std::optional<PublicKey>& key);

}  // namespace caisson::audit
