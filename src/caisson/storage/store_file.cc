#include "caisson/storage/store_file.h"

#include <endian.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace caisson::storage {
namespace {

constexpr char kUnfinishedName[] = "store.img.unfinished";
constexpr char kUnfinishedPath[] = "./store.img.unfinished";

constexpr std::array kMakers = {"/usr/sbin/mkfs.btrfs", "/sbin/mkfs.btrfs", "/usr/bin/mkfs.btrfs",
                                "/usr/local/sbin/mkfs.btrfs"};

// Of a btrfs super block. Source: fs/btrfs/accessors.h, struct btrfs_super_block.
constexpr off_t kSuperBlock = 64L << 10U;
constexpr std::size_t kMagicAt = 0x40;
constexpr std::size_t kTotalBytesAt = 0x70;
constexpr char kMagic[] = "_BHRfS_M";

// Declares what a child gets: closes with its scope.
class SpawnActions {
 public:
  SpawnActions() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  posix_spawn_file_actions_t* actions() { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

const char* FindMaker() {
  for (const char* path : kMakers) {
    if (access(path, X_OK) == 0) return path;
  }
  return nullptr;
}

// The last line that mkfs.btrfs wrote.
std::string LastLine(const os::Fd& messages) {
  std::array<char, 4096> text{};
  const ssize_t size = pread(messages.get(), text.data(), text.size(), 0);
  std::string line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line.substr(line.rfind('\n') + 1);
}

Status RunMaker(const char* maker, const os::Fd& data, const os::Fd& lock) {
  const os::Fd messages(memfd_create("mkfs.btrfs", MFD_CLOEXEC));
  if (!messages.valid()) return Fail(Error::FromErrno(errno, "cannot make a file in memory"));
  SpawnActions spawn;
  posix_spawn_file_actions_addfchdir_np(spawn.actions(), data.get());
  posix_spawn_file_actions_addopen(spawn.actions(), STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(spawn.actions(), STDIN_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(spawn.actions(), messages.get(), STDERR_FILENO);
  // Onto itself: inherited.
  posix_spawn_file_actions_adddup2(spawn.actions(), lock.get(), lock.get());
  // Single metadata: a second copy would lie in the same file of the same disk and halve the rate of small writes.
  // No discard: the file is new and holds nothing.
  const std::array<const char*, 10> argv = {"mkfs.btrfs", "--quiet", "--nodiscard", "--metadata",    "single",
                                            "--data",     "single",  "--label",     "caisson-store", kUnfinishedPath};
  std::array<char*, argv.size() + 1> arguments{};
  for (std::size_t i = 0; i < argv.size(); ++i) arguments[i] = const_cast<char*>(argv[i]);
  std::array<char*, 1> environment{};
  pid_t pid = -1;
  const int failure =
      posix_spawn(&pid, maker, spawn.actions(), spawn.attributes(), arguments.data(), environment.data());
  if (failure != 0) return Fail(Error::FromErrno(failure, std::string("cannot start ") + maker));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot wait for mkfs.btrfs"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Fail(Error(Code::kInternal, "mkfs.btrfs failed").Because(LastLine(messages)));
}

Status FillUnfinished(const char* maker, const os::Fd& data, const os::Fd& lock, Bytes size) {
  const os::Fd file(openat(data.get(), kUnfinishedName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot create the file"));
  // On btrfs, each change below the loop device would be copied once more. Other file systems do not know the flag.
  int flags = FS_NOCOW_FL;
  (void)ioctl(file.get(), FS_IOC_SETFLAGS, &flags);
  if (ftruncate(file.get(), static_cast<off_t>(size.value)) != 0) {
    return Fail(Error::FromErrno(errno, "cannot size the file"));
  }
  CAISSON_CHECK_OK(RunMaker(maker, data, lock));
  if (fsync(file.get()) != 0) return Fail(Error::FromErrno(errno, "cannot write the file"));
  if (renameat2(data.get(), kUnfinishedName, data.get(), kStoreFileName, RENAME_NOREPLACE) != 0) {
    return Fail(Error::FromErrno(errno, "cannot give the file its name"));
  }
  return {};
}

}  // namespace

Result<os::Fd> OpenStoreFile(const os::Fd& data, const std::string& data_path) {
  // Non-blocking: a FIFO in its place must not stop us before it is refused.
  os::Fd file(openat(data.get(), kStoreFileName, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  const std::string path = data_path + "/" + kStoreFileName;
  if (!file.valid() && errno != ELOOP) return Fail(Error::FromErrno(errno, "cannot open the store file " + path));
  if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != 0 ||
      (info.st_mode & 077) != 0 || info.st_nlink != 1) {
    return Fail(Error(Code::kPermissionDenied, "the store file " + path + " cannot be trusted")
                    .Because("it is not a plain file with one name that only root can read and write")
                    .Remedy("find out who changed it; then chown root, chmod 0600, or remove it"));
  }
  return file;
}

Status MakeStoreFile(const os::Fd& data, const std::string& data_path, const os::Fd& lock, Bytes size) {
  const std::string path = data_path + "/" + kStoreFileName;
  const char* maker = FindMaker();
  if (maker == nullptr) {
    return Fail(Error(Code::kUnsupported, "cannot make the store file " + path)
                    .Because("mkfs.btrfs is not installed")
                    .Remedy("apt install btrfs-progs, or choose another storage"));
  }
  // What somebody left who was interrupted; the lock says that nobody is at it now.
  if (unlinkat(data.get(), kUnfinishedName, 0) != 0 && errno != ENOENT) {
    return Fail(Error::FromErrno(errno, "cannot remove the unfinished " + path));
  }
  const Status filled = FillUnfinished(maker, data, lock, size);
  if (!filled) {
    (void)unlinkat(data.get(), kUnfinishedName, 0);
    return Fail(Error(filled.error()).Context("making the store file " + path));
  }
  // Its name must outlive a power failure as its content does.
  if (fsync(data.get()) != 0) return Fail(Error::FromErrno(errno, "cannot write the folder " + data_path));
  return {};
}

Status CheckStoreFile(const os::Fd& file, const std::string& data_path) {
  std::array<char, 4096> block{};
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot describe the store file"));
  const ssize_t size = pread(file.get(), block.data(), block.size(), kSuperBlock);
  if (size < 0) return Fail(BrokenStoreFile(data_path, Error::FromErrno(errno, "").cause()));
  if (static_cast<std::size_t>(size) < block.size() || std::memcmp(&block[kMagicAt], kMagic, 8) != 0) {
    return Fail(BrokenStoreFile(data_path, "it holds no btrfs file system"));
  }
  std::uint64_t total = 0;
  std::memcpy(&total, &block[kTotalBytesAt], sizeof total);
  if (le64toh(total) > static_cast<std::uint64_t>(info.st_size)) {
    return Fail(BrokenStoreFile(data_path, "it is truncated: " + std::to_string(info.st_size) + " of " +
                                               std::to_string(le64toh(total)) + " bytes are left"));
  }
  return {};
}

Error BrokenStoreFile(const std::string& data_path, std::string cause) {
  const std::string path = data_path + "/" + kStoreFileName;
  return std::move(Error(Code::kUnavailable, "the store file " + path + " cannot be used")
                       .Because(std::move(cause))
                       .Remedy("restore it from a copy; or, when no sandbox in it is needed, unmount " + data_path +
                               "/store and remove the file: the next start makes a new one"));
}

}  // namespace caisson::storage
