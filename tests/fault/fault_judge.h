#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fault/scenario.h"
#include "fault/traced_run.h"
#include "support/host_state.h"
#include "support/storage_drivers.h"

namespace caisson::fault {

enum class Verdict {
  kSucceeded,   // the command ran, as confined as without a fault
  kRefused,     // an error with a code and a message, and no command ran
  kNotReached,  // this run never made the call
  kWrong,       // anything else
};

struct Judged {
  Verdict verdict = Verdict::kWrong;
  std::string text;        // of the error, or what is wrong
  bool collected = false;  // something was left behind, which the next collection took away
};

// Runs the same `caisson run` of one scenario on one storage over and over, each time with another call failing. Makes
// the data folder of its runs, in a mount namespace of this process's own, so one at a time. Needs root.
class Judge {
 public:
  Judge(const support::StorageDriver& storage, Scenario scenario);

  // Why nothing can be judged here; empty when it can.
  const std::string& why_not() const { return why_not_; }
  // What is wrong already when no call fails; empty: nothing.
  const std::string& fault() const { return fault_; }
  // The calls of a run without a fault.
  const std::vector<CallSite>& calls() const { return calls_; }
  Judged Try(const Injection& injection);

 private:
  std::vector<std::string> Arguments() const;
  std::string JudgeRun(const TracedRun& run, Judged& judged) const;
  TracedRun Run(const std::optional<Injection>& injection) const;
  std::string JudgeImages() const;
  std::string JudgeKept(const Judged& judged) const;
  std::string JudgeRest(Judged& judged) const;

  Scenario scenario_;
  std::string storage_;
  std::string why_not_;
  std::string fault_;
  std::string posture_;
  std::string image_;  // what is in the image `host`
  std::vector<CallSite> calls_;
  support::HostState before_;
};

// Gives this process a mount namespace in which `folder` is Caisson's data folder, and an ipc namespace, where it sees
// no object of others. False with errno.
bool EnterArena(const std::string& folder);

}  // namespace caisson::fault
