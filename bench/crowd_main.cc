// bench-crowd: many sandboxes of one engine at the same time, for comparison with other makers of sandboxes.
//   bench-crowd once COUNT   COUNT threads each create a sandbox, run true in it and destroy it; prints
//                            "MICROSECONDS FAILURES", the time until the last was done
//   bench-crowd alive COUNT  COUNT sandboxes with a sleep in each; prints "COUNT alive" and keeps them until its
//                            standard input ends

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/engine_variants.h"
#include "bench/program.h"
#include "bench/statistics.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUsage = "bench-crowd once|alive COUNT";
constexpr std::uint64_t kMost = 2000;

Status RunAtOnce(sandbox::Sandboxes& engine, std::uint64_t count) {
  std::atomic<std::uint64_t> failures = 0;
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      if (!EngineColdVariant(engine, {}).RunOnce()) ++failures;
    });
  }
  for (auto& thread : threads) thread.join();
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  return os::WriteAll(STDOUT_FILENO, std::to_string(took.count()) + " " + std::to_string(failures) + "\n");
}

struct Sleeper {
  std::unique_ptr<sandbox::Sandbox> sandbox;
  sandbox::Command command;
};

Result<Sleeper> StartSleeper(sandbox::Sandboxes& engine) {
  sandbox::CommandSpec spec;
  spec.argv = {"/bin/sleep", "3600"};
  spec.report_changes = sandbox::ReportChanges::kNo;
  spec.timeout = std::chrono::hours(1);
  CAISSON_TRY(auto sandbox, engine.Create({}));
  CAISSON_TRY(auto command, sandbox->Start(spec));
  return Sleeper{.sandbox = std::move(sandbox), .command = std::move(command)};
}

Status KeepAlive(sandbox::Sandboxes& engine, std::uint64_t count) {
  std::vector<Sleeper> sleepers;
  for (std::uint64_t i = 0; i < count; ++i) {
    CAISSON_TRY(auto sleeper, StartSleeper(engine));
    sleepers.push_back(std::move(sleeper));
  }
  CAISSON_CHECK_OK(os::WriteAll(STDOUT_FILENO, std::to_string(sleepers.size()) + " alive\n"));
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return {};
}

Status Run(const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 2 || (arguments[0] != "once" && arguments[0] != "alive")) {
    return Fail(Error(Code::kInvalidArgument, std::string(kUsage)));
  }
  CAISSON_TRY(const std::uint64_t count, ParseCount(arguments[1], "COUNT", 1, kMost));
  CAISSON_TRY(const auto directory, OwnDirectory());
  CAISSON_TRY(const auto engine, StartEngine(directory));
  return arguments[0] == "once" ? RunAtOnce(*engine, count) : KeepAlive(*engine, count);
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) {
  using namespace caisson;
  const auto done = bench::Run({argv + 1, argv + argc});
  if (done) return 0;
  static_cast<void>(os::WriteAll(STDERR_FILENO, "bench-crowd: " + bench::Describe(done.error()) + "\n"));
  return 1;
}
