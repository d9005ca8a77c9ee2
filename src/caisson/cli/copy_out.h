#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/copy_report.h"
#include "caisson/cli/copy_request.h"
#include "caisson/client/files.h"
#include "caisson/client/http.h"
#include "caisson/os/fd.h"

namespace caisson::cli {

// Copies a file or a folder out of a sandbox. What a sandbox says is only data: below the folder that the caller names
// no symbolic link is followed, and no name leads elsewhere. A file is complete or not there.
class CopyOut {
 public:
  CopyOut(client::Http& http, const CopyRequest& request, CopyReport& report)
      : http_(http), request_(request), report_(report) {}

  // Errors: what ends the whole copy; what is about one entry is in the report.
  Status Run();

 private:
  struct Place {
    os::Fd folder;
    std::string name;
  };
  Result<Place> Target(const std::string& name) const;
  Status File(const os::Fd& into, const std::string& name, const std::string& remote, std::uint32_t mode);
  Status Content(const os::Fd& file, const std::string& remote);
  Status Folder(const os::Fd& into, const std::string& name, const std::string& remote, std::uint32_t mode, int depth);
  Status Entries(const os::Fd& into, const std::string& remote, int depth);
  std::uint32_t ModeOf(const std::string& remote, std::uint32_t otherwise);

  client::Http& http_;
  const CopyRequest& request_;
  CopyReport& report_;
};

// Whether an entry of a folder can have this name: one part of a path, neither . nor .. nor empty.
bool IsEntryName(std::string_view name);

}  // namespace caisson::cli
