#include "caisson/cli/deposit.h"

namespace caisson::cli {

Result<std::string> Deposit(const client::Endpoint& endpoint, const std::string& folder, FolderUse use) {
  (void)endpoint;
  (void)folder;
  const std::string option = use == FolderUse::kImage ? "--image" : "--workspace";
  return Fail(Error(Code::kUnsupported, option + " is not supported for a sandbox that stays")
                  .Because("the daemon takes no folders of the host yet")
                  .Remedy(use == FolderUse::kImage ? "leave it out, or use `caisson run --image`"
                                                   : "bring files in with `caisson copy`"));
}

}  // namespace caisson::cli
