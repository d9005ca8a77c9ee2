#include "caisson/guest/file_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace caisson::guest {

bool DescribeEntry(int folder, const char* name, proto::FileEntry& entry) {
  entry.set_name(name);
  struct stat info{};
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  entry.set_mode(info.st_mode);
  entry.set_size(static_cast<std::uint64_t>(info.st_size));
  entry.set_modified_ms(info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000);
  if (!S_ISLNK(info.st_mode)) return true;
  std::array<char, PATH_MAX> target{};
  const ssize_t n = readlinkat(folder, name, target.data(), target.size());
  if (n > 0) entry.set_link_target(std::string(target.data(), static_cast<std::size_t>(n)));
  return true;
}

}  // namespace caisson::guest
