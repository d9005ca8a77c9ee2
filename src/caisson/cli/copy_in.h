#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/cli/copy_report.h"
#include "caisson/cli/copy_request.h"
#include "caisson/client/http.h"
#include "caisson/os/fd.h"

namespace caisson::cli {

// Copies a file or a folder of this host into a sandbox. In a folder no symbolic link is followed. Files that may be
// executed get their mode, and folders without files are made, by commands in the sandbox at the end.
class CopyIn {
 public:
  CopyIn(client::Http& http, const CopyRequest& request, CopyReport& report)
      : http_(http), request_(request), report_(report) {}

  // Errors: what ends the whole copy; what is about one entry is in the report.
  Status Run();

 private:
  Result<std::string> Target(const std::string& name);
  Status File(const os::Fd& file, const std::string& shown, const std::string& remote);
  Status Folder(const os::Fd& folder, const std::string& shown, const std::string& remote, int depth);
  Status Entry(const os::Fd& folder, const std::string& name, const std::string& shown, const std::string& remote,
               int depth);
  Status SetModes();
  // Of `paths` as many at a time as a command takes.
  Status RunOnAll(const std::vector<std::string>& words, const std::vector<std::string>& paths, const char* what);

  client::Http& http_;
  const CopyRequest& request_;
  CopyReport& report_;
  std::vector<std::string> executables_;
  std::vector<std::string> bare_folders_;
  std::string piece_;
};

}  // namespace caisson::cli
