#include "caisson/guest/kernel_plans.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "caisson/guest/as_user.h"
#include "caisson/os/uapi.h"
#include "caisson/plan/kernel_plan.h"

namespace caisson::guest {
namespace {

struct Right {
  plan::FileRights ours;
  std::uint64_t landlock;
};
// Device nodes can be made with none of them.
constexpr std::array<Right, 7> kRights = {{
    {plan::kExecuteFile, LANDLOCK_ACCESS_FS_EXECUTE},
    {plan::kReadFile, LANDLOCK_ACCESS_FS_READ_FILE},
    {plan::kReadFolder, LANDLOCK_ACCESS_FS_READ_DIR},
    {plan::kWriteFile, LANDLOCK_ACCESS_FS_WRITE_FILE | os::uapi::kLandlockTruncate},
    {plan::kCreateFile, LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
                            LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | os::uapi::kLandlockRefer},
    {plan::kRemoveFile, LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR},
    {plan::kDeviceControl, os::uapi::kLandlockIoctlDev},
}};

std::uint64_t LandlockRights(plan::FileRights rights) {
  std::uint64_t all = 0;
  for (const Right& right : kRights) {
    if ((rights & right.ours) != 0) all |= right.landlock;
  }
  return all;
}

os::Fd OpenPlace(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return os::Fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

// Its score for the killer of a memory shortage is a file there (command_child.cc).
bool LetsConfineItself(const proto::MakePlan& plan) {
  return std::any_of(plan.grants().begin(), plan.grants().end(), [](const proto::FileGrant& grant) {
    return grant.is_below() && (grant.rights() & plan::kWriteFile) != 0 &&
           (grant.path() == "/proc" || grant.path() == "/");
  });
}

bool IsFolder(const os::Fd& place) {
  struct stat info{};
  return fstat(place.get(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

Result<std::uint64_t> KernelPlans::Make(const proto::MakePlan& request) {
  CAISSON_TRY(os::LandlockRules rules, os::LandlockRules::Make());
  {
    const AsUser as_user(request.id());
    for (const proto::FileGrant& grant : request.grants()) {
      const os::Fd place = OpenPlace(grant.path());
      if (!place.valid() || (!grant.is_below() && IsFolder(place))) continue;
      CAISSON_CHECK_OK(rules.AllowPlace(place, LandlockRights(grant.rights())));
    }
  }
  if (plans_.size() == kMost) plans_.pop_front();
  plans_.push_back({.number = next_, .rules = std::move(rules), .may_have_thread = LetsConfineItself(request)});
  return next_++;
}

std::optional<KernelPlans::Binding> KernelPlans::Bind(std::uint64_t number) {
  for (Kept& plan : plans_) {
    if (plan.number != number) continue;
    if (plan.may_have_thread && plan.was_used && plan.thread == nullptr) {
      // Without one it only takes longer.
      if (auto started = DomainThread::Start(plan.rules)) plan.thread = *std::move(started);
    }
    plan.was_used = true;
    return Binding{&plan.rules, plan.thread.get()};
  }
  return std::nullopt;
}

}  // namespace caisson::guest
