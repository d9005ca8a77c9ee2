#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/units.h"

// `template` is a word of the language.
namespace caisson::templates {

// What a file `caisson.toml` says, checked: an immutable value. What it leaves out is absent; defaults come later.

// A value and where it stands: "caisson.toml:14".
template <typename Value>
struct Given {
  Value value;
  std::string source;
};
template <typename Value>
using Maybe = std::optional<Given<Value>>;

enum class Tier : std::uint8_t { kAuto, kProcess, kContainer, kGvisor, kMicrovm, kWasm };
enum class User : std::uint8_t { kAgent, kRoot };
enum class OnEnd : std::uint8_t { kDelete, kKeep, kSnapshot };
enum class Audit : std::uint8_t { kOn, kRequired };
enum class CheckpointBefore : std::uint8_t { kNever, kChange, kEveryStep };
enum class ToolEffect : std::uint8_t { kRead, kChange, kDestroy, kExecute };

struct Limits {
  Maybe<MilliCpus> cpus;
  Maybe<Bytes> memory;
  Maybe<Bytes> disk;
  Maybe<std::uint64_t> inodes;  // 0: bounded by the bytes
  Maybe<std::chrono::milliseconds> timeout;
  Maybe<std::uint32_t> pids;
  Maybe<Bytes> output;  // kept in a result, per stream
};

struct Packages {
  std::vector<std::string> apt, pip;
};

struct Budget {
  Maybe<std::chrono::milliseconds> wall_time;
  Maybe<std::uint64_t> commands;
  Maybe<Bytes> output;
  Maybe<std::uint64_t> files_written;
};

struct Monitor {
  Maybe<std::chrono::milliseconds> interval;
  Maybe<std::uint32_t> warn_percent, stop_percent;
};

struct Checkpoint {
  Maybe<CheckpointBefore> before;
  Maybe<std::uint32_t> keep;
};

// A secret's name inside, and the operator's variable that has its value.
struct Secret {
  std::string name;
  std::string variable;
};

struct ToolParameter {
  std::string name;
  std::string type;     // "string", "integer", "number", "boolean"
  std::string pattern;  // of a string; empty: any
  std::string description;
};

struct Tool {
  std::string name;
  std::string description;
  std::vector<std::string> argv;  // "{name}" stands for a parameter
  ToolEffect effect = ToolEffect::kExecute;
  std::vector<ToolParameter> parameters;
  std::string source;
};

// Something that is understood but that Caisson does not do yet.
struct Lacking {
  std::string what;    // in words
  std::string source;  // "caisson.toml:5", "profile team"
  // kRefused: without it the sandbox would be weaker, or lack what its commands need.
  enum class Use : std::uint8_t { kNotice, kRefused } use = Use::kNotice;
};

struct Template {
  std::string file;  // as it was named
  Maybe<std::string> image;
  Maybe<Tier> tier;
  Maybe<User> user;
  Maybe<std::string> workspace;
  Maybe<std::string> profile;
  Maybe<std::string> policy;  // a preset, or a file beside the template
  Maybe<std::string> toolset;
  Maybe<Packages> packages;
  Maybe<OnEnd> on_end;
  Maybe<std::chrono::milliseconds> idle_timeout;
  Maybe<std::chrono::milliseconds> max_lifetime;
  Maybe<Audit> audit;
  Limits limits;
  Maybe<Budget> budget;
  Maybe<Monitor> monitor;
  Maybe<Checkpoint> checkpoint;
  std::vector<std::pair<std::string, Given<std::string>>> env;  // in the file's order
  Maybe<std::vector<Secret>> secrets;
  std::vector<Tool> tools;

  // What of it is not there yet, in the order of the keys. A tier is judged by what uses the template, since an option
  // may replace it: LackingTier in settings.h.
  std::vector<Lacking> NotYet() const;
};

std::string TierName(Tier tier);
std::string OnEndName(OnEnd on_end);
std::string UserName(User user);

}  // namespace caisson::templates
