#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/base/sha256.h"
#include "caisson/record/entry.h"
#include "caisson/record/redactor.h"

namespace caisson::record {

// The last record of a sandbox: its number, from 1, and its hash. Number 0: there is none yet, and the hash is that of
// FirstHead.
struct Head {
  std::uint64_t seq = 0;
  Sha256 hash{};
  bool operator==(const Head&) const = default;
};

// Where the chain of a sandbox begins.
Head FirstHead(const SandboxId& sandbox);

// What stands at the end of each line behind the bytes that its hash covers, apart from the hash and a quote:
//   {...,"prev":"<64 digits>","hash":"<64 digits>"}
// A record's hash is SHA-256 of the text of the hash before it and of its own line without `,"hash":"..."`. `covered`:
// such a line, which ends with "}".
Sha256 HashOf(const Sha256& prev, std::string_view covered);

struct ChainedLine {
  std::string text;  // with its newline
  Head head;         // once the line is written
};

// The line of the record behind `head`. `body`: what BodyOf gave. At most limits.h's kLongestLine and a newline.
ChainedLine MakeLine(const SandboxId& sandbox, const Head& head, Time time, std::string_view body);

}  // namespace caisson::record
