#include "bench/spawn_variant.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "bench/program.h"

namespace caisson::bench {

SpawnVariant::SpawnVariant(std::vector<std::string> argv, os::Fd diagnostics)
    : argv_(std::move(argv)), diagnostics_(std::move(diagnostics)) {}

Result<std::unique_ptr<Variant>> SpawnVariant::Make(std::vector<std::string> argv) {
  if (::access(argv.front().c_str(), X_OK) != 0) return Fail(Error::FromErrno(errno, "cannot run " + argv.front()));
  os::Fd diagnostics(::memfd_create("diagnostics", MFD_CLOEXEC));
  if (!diagnostics.valid()) return Fail(Error::FromErrno(errno, "cannot make a memory file"));
  // Not make_unique: the constructor is private.
  return std::unique_ptr<Variant>(new SpawnVariant(std::move(argv), std::move(diagnostics)));
}

Result<std::chrono::nanoseconds> SpawnVariant::RunOnce() {
  const auto start = std::chrono::steady_clock::now();
  CAISSON_TRY(auto program, Program::Spawn(argv_, StandardStreams{.err = diagnostics_.get()}));
  CAISSON_TRY(const auto status, program.Wait());
  const auto end = std::chrono::steady_clock::now();
  const std::string diagnostics = TakeDiagnostics();
  if (status == 0) return end - start;
  return Fail(
      Error(Code::kInternal, argv_.front() + " ended with status " + std::to_string(status)).Because(diagnostics));
}

std::string SpawnVariant::TakeDiagnostics() {
  std::array<char, 200> text{};
  const ssize_t length = ::pread(diagnostics_.get(), text.data(), text.size(), 0);
  // The offset is shared with the program, which wrote at it.
  static_cast<void>(::lseek(diagnostics_.get(), 0, SEEK_SET));
  if (::ftruncate(diagnostics_.get(), 0) != 0 || length <= 0) return "";
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace caisson::bench
