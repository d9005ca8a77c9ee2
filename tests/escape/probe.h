#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caisson::escape {

// What one attempt at a forbidden act came to. A probe that the kernel kills returns nothing: its death is the answer.
struct Outcome {
  enum class Kind {
    kSucceeded,  // the act was possible
    kRefused,    // the kernel said no; `error` says how
    kNotRun,     // the probe could not try: an argument or a precondition is missing
  };
  Kind kind = Kind::kNotRun;
  int error = 0;
  std::string note;  // one line for a reader: which file, which socket family
};

inline Outcome Succeeded(std::string note = {}) { return {Outcome::Kind::kSucceeded, 0, std::move(note)}; }
inline Outcome Refused(int error, std::string note = {}) { return {Outcome::Kind::kRefused, error, std::move(note)}; }
inline Outcome NotRun(std::string reason) { return {Outcome::Kind::kNotRun, 0, std::move(reason)}; }

// The outcome of a call that returns a negative value and sets errno when it fails.
inline Outcome FromReturn(long result) { return result < 0 ? Refused(errno) : Succeeded(); }

// What the probes know of the host, from `--key=value` on the command line, and of their own start.
class Context {
 public:
  void Set(std::string key, std::string value) { values_[std::move(key)] = std::move(value); }
  // The value of an argument, or null when it was not given. Borrowed from the context.
  const std::string* Find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  // Descriptors above 2 that were open when the program began.
  const std::vector<int>& inherited_fds() const { return inherited_fds_; }
  void set_inherited_fds(std::vector<int> fds) { inherited_fds_ = std::move(fds); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<int> inherited_fds_;
};

// One forbidden act. `catalogue` is the letter and number of the failure case it stands for. It must leave the host as
// it was even when it succeeds as root with every capability; it runs in a process of its own, in a private copy of the
// mount table where the kernel grants one.
struct Probe {
  std::string name;
  std::string catalogue;
  std::string act;
  std::function<Outcome(const Context&)> run;
};

using Probes = std::vector<Probe>;

Probes FileProbes();
Probes ProcProbes();
Probes InitProbes();
Probes FdProbes();
Probes UserProbes();
Probes NamespaceProbes();
Probes CgroupProbes();
Probes BadCallProbes();
Probes SeccompProbes();
Probes ModeProbes();
Probes MemfdProbes();
Probes SocketProbes();
Probes TerminalProbes();
Probes LandlockProbes();
Probes HostProbes();
Probes AliasProbes();
Probes SiblingProbes();
Probes NetworkProbes();
Probes RaceProbes();
Probes DeviceProbes();
// Last, since they fill what the sandbox may use.
Probes ResourceProbes();

}  // namespace caisson::escape
