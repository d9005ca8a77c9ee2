// bench-node: the daemon's promises with numbers, beside the engine and a plain pipe in the same run.

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/engine_variants.h"
#include "bench/floor.h"
#include "bench/program.h"
#include "bench/statistics.h"
#include "caisson/client/commands.h"
#include "caisson/client/sandboxes.h"
#include "caisson/os/program_folder.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

double Ms(nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench-node: %s\n", what.c_str());
  std::exit(3);
}

template <typename T>
T Must(Result<T> result, const char* doing) {
  if (!result) Die(std::string(doing) + ": " + Describe(result.error()));
  return *std::move(result);
}

// A daemon on folders of its own, which are removed at the end.
class Daemon {
 public:
  explicit Daemon(std::string programs) : programs_(std::move(programs)), folder_("/var/tmp/caisson-bench-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) Die("cannot make a folder");
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    Start();
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    Stop(SIGTERM);
    // The launcher, without a sandbox, removes what is its own.
    for (int i = 0; i < 100 && std::filesystem::exists(folder_ + "/data/store/lock"); ++i) usleep(10'000);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  client::Http Connect() const {
    return client::Http(Must(client::ParseEndpoint("unix://" + folder_ + "/node.sock", "bench"), "endpoint"));
  }
  // Until it answers.
  nanoseconds Start() {
    const auto start = Clock::now();
    pid_ = fork();
    if (pid_ == 0) {
      const std::string program = programs_ + "/caisson-daemon";
      const std::string socket = folder_ + "/node.sock";
      const std::string data = folder_ + "/data";
      const std::string run = folder_ + "/run";
      execl(program.c_str(), program.c_str(), "--socket", socket.c_str(), "--data", data.c_str(), "--runtime",
            run.c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 10'000; ++i) {
      client::Http http = Connect();
      if (http.Ask({.method = "GET", .target = "/readyz"})) return Clock::now() - start;
      usleep(1000);
    }
    Die("the daemon does not answer");
  }
  void Stop(int signal_number) {
    kill(pid_, signal_number);
    waitpid(pid_, nullptr, 0);
  }
  // Of the daemon's process, in KiB.
  long Resident() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::strtol(line.c_str() + 6, nullptr, 10);
    }
    return -1;
  }

 private:
  std::string programs_;
  std::string folder_;
  pid_t pid_ = -1;
};

client::CreateRequest Small() {
  client::CreateRequest request;
  request.storage = "tmpfs";
  request.cpus = {2000};
  request.memory = MiB(256);
  request.disk = MiB(256);
  request.pids = 64;
  request.command_timeout = std::chrono::seconds(30);
  return request;
}

std::string Create(client::Http& http) { return Must(client::CreateSandbox(http, Small()), "create").id; }

void RunTrue(client::Http& http, const std::string& sandbox) {
  const auto reply = Must(http.Ask({.method = "POST",
                                    .target = "/v1/sandboxes/" + sandbox + "/commands",
                                    .body = R"({"argv":["/bin/true"],"report_changes":false})",
                                    .content_type = "application/json"}),
                          "run");
  if (reply.body.find(R"("exit_code":0)") == std::string::npos) Die("true failed: " + reply.body);
}

void Delete(client::Http& http, const std::string& sandbox) {
  if (const auto gone = client::DeleteSandbox(http, sandbox); !gone) Die("delete: " + Describe(gone.error()));
}

void Print(const char* name, const Samples& samples) {
  const auto summary = samples.Summarize();
  if (summary)
    std::printf("%-34s p50 %8.3f ms  p99 %8.3f ms  n %zu\n", name, Ms(summary->p50), Ms(summary->p99), samples.count());
}

double P50(const Samples& samples) { return Ms(samples.Summarize()->p50); }

void Judge(const char* name, double value, double limit, bool at_most, const char* unit) {
  const bool is_met = at_most ? value <= limit : value >= limit;
  std::printf("  %-50s %9.3f %s (%s %.3g) %s\n", name, value, unit, at_most ? "at most" : "at least", limit,
              is_met ? "met" : "MISSED");
}

void MustRun(const Status& ran) {
  if (!ran) Die("true: " + Describe(ran.error()));
}

// Neither of two things that are compared pays for what the one before left to be cleared away.
void Settle() { usleep(20'000); }

void Compare(const char* name, const Samples& rest, const Samples& engine, double limit) {
  Print((std::string("engine: ") + name).c_str(), engine);
  Print((std::string("REST: ") + name).c_str(), rest);
  Judge((std::string(name) + ": REST over the engine").c_str(), P50(rest) - P50(engine), limit, true, "ms");
}

// One after the other: the engine in this process, the same through the daemon.
void MeasureLatency(sandbox::Sandboxes& engine, client::Http& http, int rounds) {
  Samples engine_cold, rest_cold;
  for (int i = 0; i < rounds; ++i) {
    Settle();
    auto start = Clock::now();
    auto box = Must(engine.Create({}), "engine");
    MustRun(bench::RunTrue(*box, sandbox::ReportChanges::kNo));
    engine_cold.Add(Clock::now() - start);
    box.reset();
    Settle();
    start = Clock::now();
    const std::string made = Create(http);
    RunTrue(http, made);
    rest_cold.Add(Clock::now() - start);
    Delete(http, made);
  }
  Compare("create, first result", rest_cold, engine_cold, 2);

  Samples engine_exec, rest_exec;
  auto standing = Must(engine.Create({}), "engine");
  const std::string steady = Create(http);
  Settle();
  for (int i = 0; i < rounds; ++i) {
    auto start = Clock::now();
    MustRun(bench::RunTrue(*standing, sandbox::ReportChanges::kNo));
    engine_exec.Add(Clock::now() - start);
    start = Clock::now();
    RunTrue(http, steady);
    rest_exec.Add(Clock::now() - start);
  }
  Delete(http, steady);
  Compare("true in a running one", rest_exec, engine_exec, 1);
}

void DeleteAll(client::Http& http, const std::vector<std::string>& all) {
  for (const std::string& one : all) Delete(http, one);
}

// How many sandboxes are made in a second, one after the other.
double SerialRate(client::Http& http) {
  constexpr std::size_t kSerial = 40;
  std::vector<std::string> made(kSerial);
  const auto start = Clock::now();
  for (std::string& one : made) one = Create(http);
  const double rate = kSerial / (Ms(Clock::now() - start) / 1000);
  DeleteAll(http, made);
  return rate;
}

// The same with everything on one processor: otherwise a slot is made ahead on the second one, and that rate is one of
// two processors already.
double RateOfOneCore(const std::string& programs) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) Die("sched_getaffinity");
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) Die("sched_setaffinity");
  double rate = 0;
  {
    const Daemon daemon(programs);
    client::Http http = daemon.Connect();
    rate = SerialRate(http);
  }
  if (sched_setaffinity(0, sizeof all, &all) != 0) Die("sched_setaffinity");
  return rate;
}

// The process that does what a sandbox takes at least, over and over: says at `ready` that it can, and begins when `go`
// closes.
[[noreturn]] void RepeatFloor(int times, const os::Fd& ready, const os::Fd& go) {
  auto floor = Floor::Prepare();
  char byte = 0;
  if (!floor || write(ready.get(), "r", 1) != 1 || read(go.get(), &byte, 1) != 0) _exit(1);
  for (int round = 0; round < times; ++round) {
    if (!floor->RunOnce()) _exit(1);
  }
  _exit(0);
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) Die("pipe");
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
  }
  os::Fd read_end;
  os::Fd write_end;
};

// How often it is done in a second by so many processes that have nothing to do with each other.
double RateOfFloor(int processes) {
  constexpr int kEach = 200;
  Pipe ready;
  Pipe go;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    go.write_end.Reset();
    RepeatFloor(kEach, ready.write_end, go.read_end);
  }
  ready.write_end.Reset();
  char byte = 0;
  for (int i = 0; i < processes; ++i) {
    if (read(ready.read_end.get(), &byte, 1) != 1) Die("the floor");
  }
  const auto start = Clock::now();
  go.write_end.Reset();
  for (const pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) Die("the floor");
  }
  return processes * kEach / (Ms(Clock::now() - start) / 1000);
}

// What the kernel itself gains by several processors.
double ScalingOfFloor(int cores) {
  const double one = RateOfFloor(1);
  return RateOfFloor(cores) / (cores * one);
}

// What sandboxes that are made at once are held against.
struct Alone {
  double rate_of_one_core = 0;
  double scaling_of_floor = 0;
};

void MeasureCrowd(const Daemon& daemon, client::Http& http, const Alone& alone) {
  const double serial = SerialRate(http);
  const double cores = std::thread::hardware_concurrency();
  std::printf("one after the other: %.0f a second, with everything on one core %.0f\n", serial, alone.rate_of_one_core);
  std::printf("floor: rate of all cores / (cores x that of one) %.3f x\n", alone.scaling_of_floor);
  for (const std::size_t crowd : std::array<std::size_t, 3>{16, 50, 200}) {
    std::vector<std::string> made(crowd);
    std::vector<std::thread> threads;
    const auto start = Clock::now();
    for (std::string& one : made) {
      threads.emplace_back([&] {
        client::Http own = daemon.Connect();
        one = Create(own);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const double rate = static_cast<double>(crowd) / (Ms(Clock::now() - start) / 1000);
    DeleteAll(http, made);
    const std::string name = std::to_string(crowd) + " at once: ";
    Judge((name + "rate / (cores x serial)").c_str(), rate / (cores * serial), 0.8, false, "x");
    const double scaling = rate / (cores * alone.rate_of_one_core);
    Judge((name + "gain by the cores / the floor's").c_str(), scaling / alone.scaling_of_floor, 0.8, false, "x");
  }
}

void MeasureThousand(Daemon& daemon, client::Http& http, int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(Create(http));
  Samples lists;
  for (int i = 0; i < 100; ++i) {
    const auto start = Clock::now();
    (void)Must(http.Ask({.method = "GET", .target = "/v1/sandboxes?limit=1000"}), "list");
    lists.Add(Clock::now() - start);
  }
  Print("list of all", lists);
  Judge("list of 1,000: p99", Ms(lists.Summarize()->p99), 50, true, "ms");
  Judge("the daemon with 1,000 sandboxes", static_cast<double>(daemon.Resident()) / 1024, 60, true, "MiB");
  daemon.Stop(SIGKILL);
  Judge("ready after a kill with 1,000 sandboxes", Ms(daemon.Start()), 300, true, "ms");
  http = daemon.Connect();
  std::vector<std::thread> threads;
  std::atomic<std::size_t> next = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      client::Http own = daemon.Connect();
      for (std::size_t at = next++; at < all.size(); at = next++) Delete(own, all[at]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Judge("ready after a kill with 1,000 in the database", Ms([&] {
          daemon.Stop(SIGKILL);
          return daemon.Start();
        }()),
        300, true, "ms");
  http = daemon.Connect();
}

// `bytes` of zeros from head through a pipe to this process, which throws them away.
double PlainPipe(std::uint64_t bytes) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) Die("pipe");
  const auto start = Clock::now();
  const std::string count = std::to_string(bytes);
  auto program = Must(Program::Spawn({"/usr/bin/head", "-c", count, "/dev/zero"}, {.out = ends[1]}), "head");
  close(ends[1]);
  std::vector<char> buffer(1U << 16U);
  while (read(ends[0], buffer.data(), buffer.size()) > 0) {
  }
  close(ends[0]);
  (void)program.Wait();
  return static_cast<double>(bytes) / 1e6 / (Ms(Clock::now() - start) / 1000);
}

void MeasureStream(const Daemon& daemon, client::Http& http) {
  constexpr std::uint64_t kBytes = 1'000'000'000;
  const std::string box = Create(http);
  const double pipe_rate = PlainPipe(kBytes);
  const long before = daemon.Resident();
  const auto start = Clock::now();
  client::StartRequest request;
  request.argv = {"head", "-c", std::to_string(kBytes), "/dev/zero"};
  const auto command = Must(client::StartCommand(http, box, request), "start");
  std::uint64_t got = 0;
  long most = 0;
  const auto end = http.Stream(
      {.method = "GET",
       .target = "/v1/sandboxes/" + box + "/commands/" + command.id + "/output?stream=stdout&follow=true",
       .accept = "application/octet-stream"},
      [&](std::string_view bytes) {
        if ((got >> 27U) != ((got + bytes.size()) >> 27U)) most = std::max(most, daemon.Resident());
        got += bytes.size();
        return client::Verdict::kContinue;
      },
      {}, std::chrono::seconds(60));
  if (!end || got != kBytes) Die("the stream gave " + std::to_string(got) + " bytes");
  const double rate = static_cast<double>(kBytes) / 1e6 / (Ms(Clock::now() - start) / 1000);
  std::printf("1 GB: plain pipe %.0f MB/s, streamed %.0f MB/s\n", pipe_rate, rate);
  Judge("1 GB streamed / a plain pipe", rate / pipe_rate, 0.5, false, "x");
  Judge("growth of the daemon meanwhile", static_cast<double>(most - before) / 1024, 16, true, "MiB");
  Delete(http, box);
}

int Run(int rounds, int count) {
  if (geteuid() != 0) Die("needs root");
  setlinebuf(stdout);
  const std::string programs = Must(os::ProgramFolder(), "folder");
  Alone alone{.scaling_of_floor = ScalingOfFloor(static_cast<int>(std::thread::hardware_concurrency()))};
  const auto engine = Must(StartEngine(programs), "engine");
  alone.rate_of_one_core = RateOfOneCore(programs);
  Daemon daemon(programs);
  client::Http http = daemon.Connect();
  MeasureLatency(*engine, http, rounds);
  MeasureCrowd(daemon, http, alone);
  MeasureStream(daemon, http);
  MeasureThousand(daemon, http, count);
  return 0;
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) {
  constexpr int kRounds = 200;
  constexpr int kSandboxes = 1000;
  return caisson::bench::Run(argc > 1 ? std::atoi(argv[1]) : kRounds, argc > 2 ? std::atoi(argv[2]) : kSandboxes);
}
