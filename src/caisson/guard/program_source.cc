#include "caisson/guard/program_source.h"

#include <sys/stat.h>

#include "caisson/sandbox/files.h"

namespace caisson::guard {
namespace {

void Stamp(const std::string& path, std::string& stamp) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return;
  stamp += path + " " + std::to_string(info.st_ino) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
           std::to_string(info.st_mtim.tv_nsec) + "\n";
}

// What changes when programs are installed, by a package manager or by hand.
std::string StampOfHost() {
  std::string stamp;
  for (const char* path : {"/var/lib/dpkg/status", "/var/lib/rpm", "/lib/apk/db/installed", "/usr", "/usr/lib",
                           "/usr/libexec", "/usr/local", "/usr/local/lib", "/opt"}) {
    Stamp(path, stamp);
  }
  for (const char* folder : os::kSearchFolders) Stamp(folder, stamp);
  return stamp;
}

}  // namespace

Result<ProgramSource::Index> HostPrograms::Find() {
  const std::lock_guard lock(mutex_);
  std::string stamp = StampOfHost();
  if (index_ != nullptr && stamp == stamp_) return index_;
  CAISSON_TRY(os::ProgramIndex index, os::IndexPrograms());
  index_ = std::make_shared<const os::ProgramIndex>(std::move(index));
  stamp_ = std::move(stamp);
  return index_;
}

Result<ProgramSource::Index> OwnPrograms::Find(sandbox::Sandbox& sandbox) {
  const std::lock_guard lock(mutex_);
  if (index_ != nullptr) return index_;
  CAISSON_TRY(os::ProgramIndex index, sandbox::Files(sandbox).FindPrograms());
  index_ = std::make_shared<const os::ProgramIndex>(std::move(index));
  return index_;
}

}  // namespace caisson::guard
