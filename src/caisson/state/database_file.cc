#include "caisson/state/database_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>

namespace caisson::state {
namespace {

constexpr std::size_t kLogHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::size_t kSmallestPage = 512;

std::uint32_t BigEndian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::uint32_t LittleEndian(std::string_view bytes, std::size_t at) { return __builtin_bswap32(BigEndian(bytes, at)); }

std::string PathIn(const os::Fd& folder, const char* name) { return os::PathOf(folder) + "/" + name; }

// The size of a regular file, nothing when there is none of that name.
Result<std::optional<std::size_t>> SizeOf(const os::Fd& folder, const char* name) {
  struct stat status{};
  if (fstatat(folder.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return Fail(Error::FromErrno(errno, "cannot look at " + PathIn(folder, name)));
  }
  if (!S_ISREG(status.st_mode)) return Fail(DamagedFile(PathIn(folder, name), "it is not a regular file"));
  return static_cast<std::size_t>(status.st_size);
}

Status CheckLog(const os::Fd& folder, std::size_t size) {
  // A power failure may leave a log whose header was not written, but then nothing was committed in it.
  if (size < kLogHeaderSize + kFrameHeaderSize + kSmallestPage) return {};
  const os::Fd log(openat(folder.get(), kLogName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!log.valid()) return Fail(Error::FromErrno(errno, "cannot open " + PathIn(folder, kLogName)));
  std::array<char, kLogHeaderSize> begin{};
  const ssize_t got = pread(log.get(), begin.data(), begin.size(), 0);
  if (got < 0) return Fail(Error::FromErrno(errno, "cannot read " + PathIn(folder, kLogName)));
  if (IsLogHeader({begin.data(), static_cast<std::size_t>(got)})) return {};
  return Fail(DamagedFile(PathIn(folder, kLogName), "it does not begin as a write-ahead log does"));
}

}  // namespace

bool IsLogHeader(std::string_view begin) {
  if (begin.size() < kLogHeaderSize) return false;
  const std::uint32_t magic = BigEndian(begin, 0);
  if ((magic & ~1U) != 0x377f0682U || BigEndian(begin, 4) != 3007000U) return false;
  // The last bit of the magic number says in which byte order the checksum was made.
  const auto word = (magic & 1U) != 0 ? BigEndian : LittleEndian;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t at = 0; at < 24; at += 8) {
    first += word(begin, at) + second;
    second += word(begin, at + 4) + first;
  }
  return first == BigEndian(begin, 24) && second == BigEndian(begin, 28);
}

Status PrepareDatabaseFile(const os::Fd& folder) {
  CAISSON_TRY(const std::optional<std::size_t> size, SizeOf(folder, kDatabaseName));
  CAISSON_TRY(const std::optional<std::size_t> log_size, SizeOf(folder, kLogName));
  if (size.value_or(0) == 0 && log_size.value_or(0) > 0) {
    return Fail(DamagedFile(PathIn(folder, kDatabaseName),
                            size ? "it is empty, but its log is not" : "it is gone, but its log is there"));
  }
  if (log_size) CAISSON_CHECK_OK(CheckLog(folder, *log_size));
  // With a log, a page that was cut short is there again.
  if (size.value_or(0) % kSmallestPage != 0 && log_size.value_or(0) == 0) {
    return Fail(DamagedFile(PathIn(folder, kDatabaseName), "its last page was cut short"));
  }
  if (size) return {};
  // Only a file that is not there is opened here: closing one would drop the locks that this process has on it.
  const os::Fd made(openat(folder.get(), kDatabaseName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.valid() || errno == EEXIST) return {};
  return Fail(Error::FromErrno(errno, "cannot make " + PathIn(folder, kDatabaseName))
                  .Remedy("let the user of the daemon write to this folder, with space on its disk"));
}

Error DamagedFile(const std::string& path, std::string cause) {
  return Error(Code::kInternal, "the database file " + path + " is damaged")
      .Because(std::move(cause))
      .Remedy(
          "stop the daemon and move caisson.db and caisson.db-wal out of the folder, or put a good copy of both "
          "there; without them the daemon begins anew, and sandboxes that still run are unknown to it");
}

}  // namespace caisson::state
