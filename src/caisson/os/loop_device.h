#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// A block device whose content is a file. The kernel detaches the file when nobody has the device open or mounted any
// more, so that a killed process leaves none behind. Two devices on one file must never be: Attach only after Find,
// under a lock. Needs root. Kernel: 5.8. Source: loop(4).
class LoopDevice {
 public:
  // The device whose content `file` is now, whoever attached it. Errors: kConflict when it shows a part of the file
  // only or is read-only; what cannot be asked is an error, never "none".
  static Result<std::optional<LoopDevice>> Find(const Fd& file);
  // Takes a free device, or makes one. Errors: kResourceExhausted when there is none to be had.
  static Result<LoopDevice> Attach(const Fd& file);

  // "/dev/loop0": means this device as long as this object lives.
  const std::string& path() const { return path_; }
  // Notices that the file has grown.
  Status AdoptFileSize() const;
  // Lets go of the file now, or once the device is not mounted any more.
  Status Detach() const;

 private:
  LoopDevice(Fd device, std::string path) : device_(std::move(device)), path_(std::move(path)) {}

  Fd device_;
  std::string path_;
};

// True when the content of the block device at `path` is `file`.
Result<bool> IsLoopDeviceOf(const std::string& path, const Fd& file);

}  // namespace caisson::os
