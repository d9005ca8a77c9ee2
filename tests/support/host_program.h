#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/os/process.h"

namespace caisson::support {

// What a program of the host reads: nothing, a closed descriptor, or a pipe that stays open until CloseInput.
enum class Input { kEmpty, kClosed, kPipe };

struct ProgramSpec {
  std::vector<std::string> argv = {};  // argv[0] is looked up in PATH
  std::vector<std::string> env = {};   // NAME=value, added to this process's environment
  std::string directory = {};          // working directory; empty: this process's
  Input input = Input::kEmpty;
  std::string input_text = {};  // not empty: what it reads, then the end; `input` is not used
};

struct Ended {
  int status = -1;  // the exit status; 128+N when signal N ended the program itself
  int signal = 0;
  std::string out;
  std::string err;
  std::chrono::milliseconds duration{};
};

// One program of the host, with its three standard streams on pipes. Move-only; destroying it kills the program. A host
// that cannot start it ends the test program: nothing can be tested there. May be used from any one thread.
class HostProgram {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  explicit HostProgram(const ProgramSpec& spec);
  HostProgram(HostProgram&&) noexcept = default;
  HostProgram& operator=(HostProgram&&) = delete;
  ~HostProgram();

  pid_t pid() const { return pid_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

  void Signal(int signal) const { (void)process_.Signal(signal); }
  void CloseInput();
  // Sends text to its standard input; with Input::kPipe.
  void Write(std::string_view text) { input_text_ += text; }
  // Reads on until standard output or error holds `text`; false when it has not by then or the program ended before.
  bool AwaitOutput(std::string_view text, std::chrono::milliseconds patience = kPatience);
  // Reads on until it ends. A program that has not ended by then is killed, and that is a failure of the test.
  Ended Wait(std::chrono::milliseconds patience = kPatience);

 private:
  // Moves what can be moved now, or waits for it; false when the program has ended or the deadline passed.
  bool Pump(const Deadline& deadline);
  void Drain();

  pid_t pid_ = -1;
  os::PidFd process_;
  os::Fd in_fd_;
  os::Fd out_fd_;
  os::Fd err_fd_;
  bool close_input_when_sent_ = false;
  std::string input_text_;
  std::string out_;
  std::string err_;
  std::chrono::steady_clock::time_point start_;
};

// Starts it and waits for its end.
Ended RunProgram(const ProgramSpec& spec, std::chrono::milliseconds patience = HostProgram::kPatience);

}  // namespace caisson::support
