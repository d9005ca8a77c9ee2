#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::demo {

// A folder of this host, made for the demo with mode 0755 and removed with everything in it at the end. Move-only.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // A new folder in it; the result is its path.
  Result<std::string> MakeFolder(std::string_view name) const;

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved from
};

// A new file that everyone may read.
Status WriteFile(const std::string& path, std::string_view content);

// Every regular file below a folder: path in it to content. At most 16 MiB each.
Result<std::map<std::string, std::string>> ContentsOf(const std::string& folder);

struct OutsideResult {
  std::string outcome;  // as OutcomeText
  std::string output;   // both streams
  std::chrono::nanoseconds duration{};
};

// Runs a program of this host as this process's own user: the control for what a sandbox does. Its environment is `env`
// alone. Ends it after 60 s: kDeadlineExceeded. Blocks; call from the only thread.
Result<OutsideResult> RunOutside(const std::vector<std::string>& argv, const std::string& folder,
                                 const std::vector<std::string>& env);

// A TCP port of this host's loopback address on which connections are accepted by the kernel.
class LoopbackListener {
 public:
  static Result<LoopbackListener> Open();
  std::uint16_t port() const { return port_; }

 private:
  LoopbackListener(os::Fd socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}
  os::Fd socket_;
  std::uint16_t port_;
};

}  // namespace caisson::demo
