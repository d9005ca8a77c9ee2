#include "caisson/storage/kept_layer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace caisson::storage {
namespace {

constexpr const char* kRecord = "record";
constexpr const char* kImage = "image";
constexpr const char* kUnfinished = "record.new";

}  // namespace

Status KeepLayer(const os::Fd& layer, std::string_view record, const std::string& image) {
  if (record.size() > kMaxRecord) return Fail(Error(Code::kInvalidArgument, "the record of a layer is too large"));
  // A link that is only read, so that nobody has to parse anything to find it.
  if (!image.empty() && symlinkat(image.c_str(), layer.get(), kImage) != 0 && errno != EEXIST) {
    return Fail(Error::FromErrno(errno, "cannot note the image of a layer"));
  }
  const os::Fd file(openat(layer.get(), kUnfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot write the record of a layer"));
  CAISSON_CHECK_OK(os::WriteAll(file.get(), record));
  if (fsync(file.get()) != 0 || renameat(layer.get(), kUnfinished, layer.get(), kRecord) != 0) {
    return Fail(Error::FromErrno(errno, "cannot write the record of a layer"));
  }
  return {};
}

Status ForgetKept(const os::Fd& layer) {
  if (unlinkat(layer.get(), kRecord, 0) == 0 || errno == ENOENT) return {};
  return Fail(Error::FromErrno(errno, "cannot remove the record of a layer"));
}

Result<bool> HasRecord(const os::Fd& layer) {
  struct stat info{};
  if (fstatat(layer.get(), kRecord, &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return Fail(Error::FromErrno(errno, "cannot see whether a layer is kept"));
}

bool IsKept(const os::Fd& layers, const std::string& name) {
  struct stat info{};
  const int found = fstatat(layers.get(), (name + "/" + kRecord).c_str(), &info, AT_SYMLINK_NOFOLLOW);
  return found == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::string ImageOfKept(const os::Fd& layer) {
  std::array<char, 256> name{};
  const ssize_t size = readlinkat(layer.get(), kImage, name.data(), name.size());
  return size < 0 ? std::string() : std::string(name.data(), static_cast<std::size_t>(size));
}

Result<std::string> ReadRecord(const os::Fd& layer) {
  const os::Fd file(openat(layer.get(), kRecord, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot read the record of a layer"));
  return os::ReadAll(file.get(), kMaxRecord);
}

}  // namespace caisson::storage
