#include "caisson/storage/change_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace caisson::storage {
namespace {

constexpr std::uint64_t kEvents =
    FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO | FAN_ATTRIB | FAN_CLOSE_WRITE | FAN_ONDIR;
constexpr std::size_t kMaxNames = 65'536;  // of one device; more is lost

Result<os::Fd> OpenQueue() {
  os::Fd queue(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_MARKS | FAN_REPORT_DFID_NAME,
                             O_RDONLY));
  if (!queue.valid()) return Fail(Error::FromErrno(errno, "cannot watch for changes of files"));
  return queue;
}

Status Mark(const os::Fd& queue, const os::Fd& folder) {
  if (fanotify_mark(queue.get(), FAN_MARK_ADD | FAN_MARK_FILESYSTEM, kEvents, folder.get(), nullptr) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot watch a file system for changes"));
}

std::string Bytes(const void* data, std::size_t size) { return {static_cast<const char*>(data), size}; }

// In a process and a mount namespace of its own: whether a write to an existing file of an overlay is told on the file
// system of its upper layer. Kernels before 6.8 do not.
bool OverlayWritesAreTold() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  // Over a folder that every host has.
  if (mount("tmpfs", "/proc", "tmpfs", 0, "mode=0700,size=64k") != 0) return false;
  for (const char* folder : {"/proc/lower", "/proc/upper", "/proc/work", "/proc/merged"}) {
    if (mkdir(folder, 0700) != 0) return false;
  }
  const char* options = "lowerdir=/proc/lower,upperdir=/proc/upper,workdir=/proc/work";
  if (mount("overlay", "/proc/merged", "overlay", 0, options) != 0) return false;
  os::Fd(open("/proc/merged/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).Reset();
  const auto queue = OpenQueue();
  const os::Fd upper(open("/proc/upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!queue || !Mark(*queue, upper)) return false;
  os::Fd file(open("/proc/merged/file", O_WRONLY | O_CLOEXEC));
  if (write(file.get(), "x", 1) != 1) return false;
  file.Reset();
  alignas(fanotify_event_metadata) std::array<char, 4096> buffer{};
  const ssize_t size = read(queue->get(), buffer.data(), buffer.size());
  if (size < static_cast<ssize_t>(sizeof(fanotify_event_metadata))) return false;
  fanotify_event_metadata event{};
  std::memcpy(&event, buffer.data(), sizeof event);
  return (event.mask & FAN_CLOSE_WRITE) != 0;
}

Status ProbeOverlay() {
  const pid_t pid = fork();
  if (pid == 0) _exit(OverlayWritesAreTold() ? 0 : 1);
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return Fail(Error(Code::kUnsupported, "this kernel does not tell about files written through an overlay"));
}

}  // namespace

Result<ChangeWatch> ChangeWatch::Start() {
  CAISSON_CHECK_OK(ProbeOverlay());
  CAISSON_TRY(os::Fd queue, OpenQueue());
  return ChangeWatch(std::move(queue));
}

Status ChangeWatch::Watch(const os::Fd& file_system, const os::Fd& layer) {
  struct statfs info{};
  struct stat stamp{};
  if (fstatfs(file_system.get(), &info) != 0 || fstat(layer.get(), &stamp) != 0) {
    return Fail(Error::FromErrno(errno, "cannot read a file system that is to be watched"));
  }
  const std::string id = Bytes(&info.f_fsid, sizeof info.f_fsid);
  if (!folders_.contains(id)) {
    CAISSON_TRY(os::Fd kept, file_system.Duplicate());
    CAISSON_CHECK_OK(Mark(queue_, file_system));
    folders_.emplace(id, std::move(kept));
  }
  pending_[stamp.st_dev] = {};
  return {};
}

void ChangeWatch::Forget(dev_t device) {
  pending_.erase(device);
  // A file system that nobody else has open must go away now.
  std::erase_if(folders_, [&](const auto& entry) {
    struct stat stamp{};
    return fstat(entry.second.get(), &stamp) == 0 && stamp.st_dev == device;
  });
}

ChangeWatch::Names ChangeWatch::Take(dev_t device) {
  Drain();
  const auto found = pending_.find(device);
  if (found == pending_.end()) return {.touched = {}, .lost = true};
  return std::exchange(found->second, Names{});
}

void ChangeWatch::Drain() {
  resolved_.clear();
  alignas(fanotify_event_metadata) std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t size = read(queue_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    const char* const end = buffer.data() + size;
    for (const char* at = buffer.data(); at + sizeof(fanotify_event_metadata) <= end;) {
      fanotify_event_metadata event{};
      std::memcpy(&event, at, sizeof event);
      if (event.event_len < sizeof event || at + event.event_len > end) break;
      Note(at, at + event.event_len);
      at += event.event_len;
    }
  }
}

// An event: its metadata, then records of which the first names folder and entry.
void ChangeWatch::Note(const char* at, const char* end) {
  fanotify_event_metadata event{};
  std::memcpy(&event, at, sizeof event);
  if ((event.mask & FAN_Q_OVERFLOW) != 0) {
    for (auto& [device, names] : pending_) names.lost = true;
    return;
  }
  const char* record = at + event.metadata_len;
  fanotify_event_info_fid info{};
  file_handle handle{};
  constexpr std::size_t kHandleOffset = offsetof(fanotify_event_info_fid, handle);
  if (record + kHandleOffset + sizeof handle > end) return;
  std::memcpy(&info, record, kHandleOffset);
  if (info.hdr.info_type != FAN_EVENT_INFO_TYPE_DFID_NAME) return;
  std::memcpy(&handle, record + kHandleOffset, sizeof handle);
  const std::size_t handle_size = sizeof handle + handle.handle_bytes;
  const char* name = record + kHandleOffset + handle_size;
  if (name >= end || info.hdr.len > end - record) return;
  const FolderId folder =
      Resolve(record + offsetof(fanotify_event_info_fid, fsid), record + kHandleOffset, handle_size);
  const auto found = pending_.find(folder.device);
  if (found == pending_.end()) return;
  Names& names = found->second;
  if (names.touched.size() == kMaxNames) names.lost = true;
  if (names.lost) return;
  Touched touched{folder.inode, std::string(name, strnlen(name, static_cast<std::size_t>(end - name))),
                  (event.mask & FAN_CLOSE_WRITE) != 0};
  const auto [place, is_new] = names.touched.insert(touched);
  if (is_new || place->written || !touched.written) return;
  names.touched.erase(place);
  names.touched.insert(std::move(touched));
}

// A folder that is gone has no id, and needs none: its own name was touched.
ChangeWatch::FolderId ChangeWatch::Resolve(const char* fsid, const char* handle, std::size_t size) {
  const std::string file_system = Bytes(fsid, sizeof(__kernel_fsid_t));
  const auto [place, is_new] = resolved_.emplace(file_system + Bytes(handle, size), FolderId{});
  if (!is_new) return place->second;
  const auto mount = folders_.find(file_system);
  if (mount == folders_.end()) return {};
  std::vector<char> copy(handle, handle + size);  // aligned
  const os::Fd folder(
      open_by_handle_at(mount->second.get(), reinterpret_cast<file_handle*>(copy.data()), O_PATH | O_CLOEXEC));
  struct stat stamp{};
  if (folder.valid() && fstat(folder.get(), &stamp) == 0) place->second = {stamp.st_dev, stamp.st_ino};
  return place->second;
}

}  // namespace caisson::storage
