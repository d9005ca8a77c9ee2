#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// Which names in which folders were touched since somebody last asked, told by the kernel. It does not say what
// happened; and of a file that is still open for writing it says nothing. One for all layers, since a user may have
// only 128 such queues. Not thread-safe. Kernel: fanotify(7) with FAN_REPORT_DFID_NAME, Linux 5.9.
class ChangeWatch {
 public:
  // Errors: kUnsupported where the kernel does not tell about files that are written through an overlay.
  static Result<ChangeWatch> Start();

  // Watches what is on the device of `layer`, by a mark on the whole file system, whose root or a tmpfs's `file_system`
  // is: btrfs takes a mark nowhere else, and gives each subvolume a device of its own.
  Status Watch(const os::Fd& file_system, const os::Fd& layer);
  // Ends it. `device` as in stat(2).
  void Forget(dev_t device);

  struct Touched {
    std::uint64_t folder = 0;  // its inode
    std::string name;          // "." is the folder itself
    bool written = false;      // a file of this name was closed after it had been open for writing

    bool operator<(const Touched& other) const {
      return folder != other.folder ? folder < other.folder : name < other.name;
    }
  };
  struct Names {
    std::set<Touched> touched;
    bool lost = false;  // there was more
  };
  // What was touched on this device since the last call.
  Names Take(dev_t device);

 private:
  struct FolderId {
    dev_t device = 0;
    std::uint64_t inode = 0;
  };
  explicit ChangeWatch(os::Fd queue) : queue_(std::move(queue)) {}
  void Drain();
  void Note(const char* event, const char* end);
  FolderId Resolve(const char* fsid, const char* handle, std::size_t size);

  os::Fd queue_;
  std::map<std::string, os::Fd> folders_;     // one of each file system, by its id: what handles are opened with
  std::map<std::string, FolderId> resolved_;  // within one Drain, by file system and handle
  std::map<dev_t, Names> pending_;
};

}  // namespace caisson::storage
