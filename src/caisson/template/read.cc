#include "caisson/template/read.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "caisson/base/utf8.h"
#include "caisson/document/document.h"
#include "caisson/plan/limits.h"
#include "caisson/template/profile.h"
#include "caisson/template/read_tool.h"

namespace caisson::templates {
namespace {

using document::TableReader;
using std::chrono::milliseconds;

constexpr std::int64_t kMostCount = std::int64_t{1} << 62U;

template <typename Value>
Maybe<Value> At(TableReader& reader, std::string_view key, std::optional<Value> value) {
  if (!value) return std::nullopt;
  return Given<Value>{std::move(*value), reader.PlaceOf(key)};
}

template <typename Value>
Maybe<Value> Choose(TableReader& reader, std::string_view key,
                    const std::vector<std::pair<std::string_view, Value>>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  const auto chosen = reader.Choice(key, names);
  if (!chosen) return std::nullopt;
  return At<Value>(reader, key, choices[*chosen].second);
}

// A text that is not empty.
Maybe<std::string> Word(TableReader& reader, std::string_view key) {
  auto text = reader.Text(key);
  if (text && text->empty()) {
    reader.Refuse(key, "must not be empty; leave it out");
    return std::nullopt;
  }
  return At(reader, key, std::move(text));
}

template <typename Number>
Maybe<Number> Count(TableReader& reader, std::string_view key, std::int64_t low, std::int64_t high) {
  const auto count = reader.Whole(key, low, high);
  if (!count) return std::nullopt;
  return At<Number>(reader, key, static_cast<Number>(*count));
}

Maybe<milliseconds> Duration(TableReader& reader, std::string_view key) {
  const document::Value* value = reader.Any(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value->content())) {
    if (const auto duration = ParseDuration(*text, key)) return At<milliseconds>(reader, key, *duration);
  }
  reader.Refuse(key, "must be a duration such as \"250ms\", \"30s\", \"10m\" or \"2h\", from 1ms to 8784h");
  return std::nullopt;
}

// A text with a unit, or a number of bytes.
Maybe<Bytes> Size(TableReader& reader, std::string_view key, Bytes least) {
  const document::Value* value = reader.Any(key);
  if (value == nullptr) return std::nullopt;
  std::optional<Bytes> size;
  if (const auto* text = std::get_if<std::string>(&value->content())) {
    if (const auto parsed = ParseBytes(*text, key)) size = *parsed;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value->content())) {
    if (*whole >= 0 && *whole <= kMostCount) size = Bytes{static_cast<std::uint64_t>(*whole)};
  }
  if (size && *size >= least) return At<Bytes>(reader, key, size);
  reader.Refuse(key, "must be a size such as \"512MiB\", \"2GiB\", \"5GB\" or plain bytes, from " + FormatBytes(least) +
                         " to 4EiB");
  return std::nullopt;
}

Maybe<MilliCpus> Cpus(TableReader& reader, std::string_view key) {
  const auto number = reader.Number(key, 0.01, 1024);
  if (!number) return std::nullopt;
  return At<MilliCpus>(reader, key, MilliCpus{static_cast<std::uint32_t>(std::lround(*number * 1000))});
}

// TOML takes every key below [table] for one of that table, which is easily forgotten.
void Finish(TableReader& reader, std::string_view table, const std::vector<std::string_view>& keys_of_whole) {
  for (const std::string& key : reader.RemainingKeys()) {
    if (std::find(keys_of_whole.begin(), keys_of_whole.end(), key) == keys_of_whole.end()) continue;
    (void)reader.Any(key);
    reader.Refuse(key, "must stand above the first [table]; here it belongs to [" + std::string(table) + "]");
  }
  (void)reader.Finish();
}

class Reader {
 public:
  explicit Reader(TableReader& whole) : whole_(whole) {}

  Template Run(std::string_view file) {
    Template made;
    made.file = std::string(file);
    ReadHead(made);
    made.packages = Table<Packages>("packages", [](TableReader& reader) { return ReadPackages(reader); });
    made.limits =
        Table<Limits>("limits", [](TableReader& reader) { return ReadLimits(reader); }).value_or(Given<Limits>{}).value;
    made.budget = Table<Budget>("budget", [](TableReader& reader) { return ReadBudget(reader); });
    made.monitor = Table<Monitor>("monitor", [](TableReader& reader) { return ReadMonitor(reader); });
    made.checkpoint = Table<Checkpoint>("checkpoint", [](TableReader& reader) { return ReadCheckpoint(reader); });
    ReadEnv(made);
    ReadSecrets(made);
    made.tools = ReadTools(whole_);
    (void)whole_.Finish();
    return made;
  }

 private:
  template <typename Value, typename Read>
  Maybe<Value> Table(std::string_view key, const Read& read) {
    auto reader = whole_.SubTable(key);
    if (!reader) return std::nullopt;
    Given<Value> given{read(*reader), reader->place()};
    Finish(*reader, key, kKeysOfWhole);
    return given;
  }

  void ReadHead(Template& made) {
    if (!whole_.Whole("version", 1, 1) && !whole_.Has("version")) whole_.Refuse("version", "must be given, as 1");
    made.image = Word(whole_, "image");
    made.tier = Choose<Tier>(whole_, "tier",
                             {{"auto", Tier::kAuto},
                              {"process", Tier::kProcess},
                              {"container", Tier::kContainer},
                              {"gvisor", Tier::kGvisor},
                              {"microvm", Tier::kMicrovm},
                              {"wasm", Tier::kWasm}});
    made.user = Choose<User>(whole_, "user", {{"agent", User::kAgent}, {"root", User::kRoot}});
    made.workspace = Word(whole_, "workspace");
    if (made.workspace && !made.workspace->value.starts_with('/')) {
      whole_.Refuse("workspace",
                    "must be an absolute path of the sandbox; a folder of the host is given by --workspace");
    }
    made.profile = Word(whole_, "profile");
    if (made.profile) {
      if (const auto profile = FindProfile(made.profile->value); !profile) {
        whole_.Refuse("profile", profile.error().cause());
      }
    }
    ReadPolicy(made);
    made.toolset = Word(whole_, "toolset");
    if (made.toolset && !IsToolName(made.toolset->value)) {
      whole_.Refuse("toolset", "must be of a-z, 0-9 and _, begin with a letter, and have at most 64");
    }
    made.on_end = Choose<OnEnd>(whole_, "on_end",
                                {{"delete", OnEnd::kDelete}, {"keep", OnEnd::kKeep}, {"snapshot", OnEnd::kSnapshot}});
    made.idle_timeout = Duration(whole_, "idle_timeout");
    made.max_lifetime = Duration(whole_, "max_lifetime");
    made.audit = Choose<Audit>(whole_, "audit", {{"on", Audit::kOn}, {"required", Audit::kRequired}});
  }

  void ReadPolicy(Template& made) {
    made.policy = Word(whole_, "policy");
    if (!made.policy || IsPolicyPreset(made.policy->value)) return;
    if (const Status path = CheckPolicyPath(made.policy->value); !path) whole_.Refuse("policy", path.error().cause());
  }

  static Packages ReadPackages(TableReader& reader) {
    const auto read = [&](std::string_view key) {
      std::vector<std::string> names = reader.Texts(key);
      if (names.size() > kMostPackages) reader.Refuse(key, "must have at most 1000 entries");
      for (const std::string& name : names) {
        const bool is_name = !name.empty() && name.front() != '-' && name.size() <= 255 &&
                             std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
        if (!is_name) reader.Refuse(key, "must hold names of packages; " + Quoted(name) + " is none");
      }
      return names;
    };
    return {.apt = read("apt"), .pip = read("pip")};
  }

  static Limits ReadLimits(TableReader& reader) {
    return {.cpus = Cpus(reader, "cpus"),
            .memory = Size(reader, "memory", plan::kLeastMemory),
            .disk = Size(reader, "disk", plan::kLeastDisk),
            .inodes = Count<std::uint64_t>(reader, "inodes", 0, kMostCount),
            .timeout = Duration(reader, "timeout"),
            .pids = Count<std::uint32_t>(reader, "pids", 1, plan::kMostPids),
            .output = Size(reader, "output", Bytes{0})};
  }

  static Budget ReadBudget(TableReader& reader) {
    return {.wall_time = Duration(reader, "wall_time"),
            .commands = Count<std::uint64_t>(reader, "commands", 1, kMostCount),
            .output = Size(reader, "output", Bytes{1}),
            .files_written = Count<std::uint64_t>(reader, "files_written", 1, kMostCount)};
  }

  static Monitor ReadMonitor(TableReader& reader) {
    Monitor monitor{.interval = Duration(reader, "interval"),
                    .warn_percent = Count<std::uint32_t>(reader, "warn_percent", 1, 100),
                    .stop_percent = Count<std::uint32_t>(reader, "stop_percent", 1, 100)};
    if (monitor.warn_percent && monitor.stop_percent && monitor.warn_percent->value > monitor.stop_percent->value) {
      reader.Refuse("warn_percent", "must not be above stop_percent");
    }
    return monitor;
  }

  static Checkpoint ReadCheckpoint(TableReader& reader) {
    return {.before = Choose<CheckpointBefore>(reader, "before",
                                               {{"never", CheckpointBefore::kNever},
                                                {"change", CheckpointBefore::kChange},
                                                {"every_step", CheckpointBefore::kEveryStep}}),
            .keep = Count<std::uint32_t>(reader, "keep", 1, 10'000)};
  }

  void ReadEnv(Template& made) {
    auto reader = whole_.SubTable("env");
    if (!reader) return;
    const std::vector<std::string> names = reader->RemainingKeys();
    if (names.size() > plan::kMostVariables) {
      whole_.Refuse("env", "must have at most 10000 variables");
      return;
    }
    for (const std::string& name : names) {
      const auto value = reader->Text(name);
      if (!value) continue;
      if (name.empty() || name.size() > plan::kLongestVariableName || name.find('=') != std::string::npos) {
        reader->Refuse(name, "must have a name of 1 to 255 bytes without '='");
      }
      if (name.size() + 1 + value->size() > plan::kLongestArgument) {
        reader->Refuse(name, "must have at most 131071 bytes with its name");
      }
      made.env.emplace_back(name, Given<std::string>{*value, reader->PlaceOf(name)});
    }
  }

  void ReadSecrets(Template& made) {
    auto reader = whole_.SubTable("secrets");
    if (!reader) return;
    Given<std::vector<Secret>> secrets{{}, reader->place()};
    const std::vector<std::string> names = reader->RemainingKeys();
    if (names.size() > kMostSecrets) {
      whole_.Refuse("secrets", "must have at most 100 entries");
      return;
    }
    for (const std::string& name : names) {
      if (!IsVariable(name)) reader->Refuse(name, "must have a name of letters, digits and _");
      auto secret = reader->SubTable(name);
      if (!secret) continue;
      // Never the value itself: the file is no place for one, and so a text beside `env` is an unknown key.
      const auto variable = secret->Text("env");
      if (!variable || !IsVariable(*variable)) secret->Refuse("env", "must name a variable of the operator's");
      (void)secret->Finish();
      secrets.value.push_back({.name = name, .variable = variable.value_or("")});
    }
    if (!secrets.value.empty()) made.secrets = std::move(secrets);
  }

  static bool IsVariable(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && name.size() <= plan::kLongestVariableName && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), is_allowed);
  }

  inline static const std::vector<std::string_view> kKeysOfWhole = {
      "version", "image",        "tier",         "user",  "workspace", "profile", "policy", "toolset",
      "on_end",  "idle_timeout", "max_lifetime", "audit", "packages",  "limits",  "budget", "monitor"};

  TableReader& whole_;
};

}  // namespace

Reading ReadWithMistakes(std::string_view text, std::string_view file) {
  const auto value = document::Read(text, document::Format::kToml, file);
  if (!value) return {.content = std::nullopt, .mistakes = {value.error()}};
  TableReader whole(*value, file);
  Template made = Reader(whole).Run(file);
  std::vector<Error> mistakes = whole.AllMistakes();
  if (!mistakes.empty()) return {.content = std::nullopt, .mistakes = std::move(mistakes)};
  return {.content = std::move(made), .mistakes = {}};
}

Result<Template> Read(std::string_view text, std::string_view file) {
  Reading reading = ReadWithMistakes(text, file);
  if (reading.content) return std::move(*reading.content);
  return Fail(std::move(reading.mistakes.front()).Remedy("`caisson template check` names every mistake"));
}

}  // namespace caisson::templates
