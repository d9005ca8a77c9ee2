// What policies cost:
//   bench-policy [ROUNDS]   deciding, compiling and loading; commands with and without a policy in one sandbox, in
//   turn.
// Needs root. Prints medians, and the promises of SPECIFICATION.md beside them.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caisson/guard/gate.h"
#include "caisson/os/program_folder.h"
#include "caisson/policy/zone.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/shell/shell.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double MedianOf(int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    work();
    times.push_back(Microseconds(Clock::now() - start).count());
  }
  return Median(std::move(times));
}

void Print(const char* what, double microseconds, const char* promise) {
  std::printf("%-58s %12.1f us   %s\n", what, microseconds, promise);
}

[[noreturn]] void Stop(const Error& error) {
  std::fprintf(stderr, "bench-policy: %s: %s\n", error.message().c_str(), error.cause().c_str());
  std::exit(1);
}

template <typename T>
T Need(Result<T> result) {
  if (!result) Stop(result.error());
  return *std::move(result);
}

std::string RulesText(int count) {
  std::string text = "version = 1\ndefault = \"deny\"\n";
  for (int i = 0; i < count; ++i) {
    const std::string name = "tool" + std::to_string(i);
    text += "[[rule]]\nname = \"" + name + "\"\neffect = \"allow\"\ncommands = [\"" + name + "\"]\nmatch = [\"" + name +
            " --version\"]\n";
  }
  return text + "[[rule]]\nname = \"git\"\neffect = \"allow\"\ncommands = [\"git log\"]\n";
}

policy::Policy PolicyOf(const std::string& text) {
  return Need(policy::Policy::Read(text, document::Format::kToml, "bench.toml", policy::SystemZones()));
}

// 200 characters with the constructs that agents use.
std::string CallText() {
  std::string text =
      "cd src && for f in a b; do git log --oneline -- \"$f\" | git log -n 1; done; if git log -1; then git log; fi; "
      "git log > /tmp/out 2>&1 # ";
  text.resize(200, 'x');
  return text;
}

void MeasureDecisions(int rounds) {
  const policy::Policy policy = PolicyOf(RulesText(100));
  policy::CommandCall call;
  call.text = CallText();
  policy::Situation situation;
  situation.now = guard::Now();
  const double parse = MedianOf(rounds, [&] { (void)shell::Analyze(*call.text); });
  const double whole = MedianOf(rounds, [&] { (void)policy::DecideCommand(policy, call, situation); });
  Print("parse of 200 characters", parse, "");
  Print("decision beyond it, 100 rules", whole - parse, "50");
  Print("decision, whole", whole, "300");
  Print("load of 10,000 rules", MedianOf(3, [&] { (void)PolicyOf(RulesText(10'000)); }), "1000000");
}

double RunTrue(sandbox::Sandbox& box, const sandbox::CommandSpec& spec) {
  const auto start = Clock::now();
  auto command = Need(box.Start(spec));
  (void)Need(command.Wait());
  return Microseconds(Clock::now() - start).count();
}

void MeasureCommands(int rounds) {
  sandbox::EngineOptions options;
  options.program_directory = Need(os::ProgramFolder());
  const auto engine = Need(sandbox::Sandboxes::Start(options));
  const policy::Policy policy = PolicyOf(Need(policy::Policy::Preset("minimal")).text() +
                                         "[[rule]]\nname = \"bench\"\neffect = \"allow\"\ncommands = [\"true\"]\n");
  sandbox::SandboxSpec made;
  made.execution = guard::ExecutionFor(policy);
  const auto box = Need(engine->Create(std::move(made)));
  if (const Status given = engine->GiveUpPrivileges(); !given) Stop(given.error());

  guard::MemoryLedger ledger;
  guard::HostPrograms programs;
  const auto gate = Need(guard::Gate::Make(policy, ledger, programs));
  const policy::Time now = guard::Now();
  policy::CommandCall call;
  call.argv = {"/usr/bin/true"};
  policy::CommandCall refused;
  refused.text = "ls; rm -rf x";
  sandbox::CommandSpec spec;
  spec.report_changes = sandbox::ReportChanges::kNo;

  const auto first = Clock::now();
  (void)Need(gate->Admit(call, spec, *box, now));
  Print("first call: looking through the image, compiling", Microseconds(Clock::now() - first).count(), "");
  const guard::ProgramSource::Index index = Need(programs.Find(*box));
  Print("compiling alone, which each sandbox does once",
        MedianOf(20, [&] { (void)Need(policy::Compile(policy, *index, {.now = now, .uses = {}, .resolve = {}}, {})); }),
        "");
  Print("denied call", MedianOf(rounds, [&] { (void)Need(gate->Admit(refused, spec, *box, now)); }), "1000");

  sandbox::CommandSpec open = spec;
  open.argv = call.argv;
  std::vector<double> without;
  std::vector<double> extra;
  for (int i = 0; i < rounds; ++i) {
    const double plain = RunTrue(*box, open);
    const auto start = Clock::now();
    const auto admission = Need(gate->Admit(call, spec, *box, now));
    const double admitting = Microseconds(Clock::now() - start).count();
    without.push_back(plain);
    extra.push_back(admitting + RunTrue(*box, *admission.spec) - plain);
  }
  Print("true in a running sandbox", Median(without), "");
  Print("the same under a policy, beyond it (of the same round)", Median(extra), "500");
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: bench-policy [ROUNDS]\n");
    return 2;
  }
  std::printf("%-58s %12s      %s\n", "", "median", "at most");
  caisson::bench::MeasureDecisions(rounds);
  caisson::bench::MeasureCommands(rounds);
  return 0;
}
