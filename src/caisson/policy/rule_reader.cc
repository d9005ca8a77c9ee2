#include "caisson/policy/rule_reader.h"
#include "caisson/base/path_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/policy/pattern.h"
#include "caisson/policy/window.h"

namespace caisson::policy {
namespace {

using document::TableReader;

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kLongestReason = 1000;

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

// What a decision names when no rule of the file decided.
bool IsReserved(std::string_view name) {
  return name == "default" || name == "unknown_shell" || name == "environment" || name == "shell";
}

bool Has(const Rule& rule, Action action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

std::vector<std::string> ActionNames() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kActionCount; ++i) names.emplace_back(ActionName(static_cast<Action>(i)));
  return names;
}

std::string MustBeAction(const std::string& given) {
  const std::vector<std::string> names = ActionNames();
  if (const auto nearest = NearestName(given, names)) {
    return "must hold actions; " + Quoted(given) + " is none: did you mean " + Quoted(*nearest) + "?";
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return "must hold actions, which are " + all + "; " + Quoted(given) + " is none";
}

// Parses each text of an array; the first mistake is kept.
template <typename Parsed>
std::vector<Parsed> ParseEach(TableReader& table, std::string_view key, Result<Parsed> (*parse)(std::string_view)) {
  std::vector<Parsed> all;
  for (const std::string& text : table.Texts(key, TableReader::One::kTaken)) {
    auto parsed = parse(text);
    if (!parsed) {
      table.Refuse(key, parsed.error().message());
      break;
    }
    all.push_back(*std::move(parsed));
  }
  return all;
}

Result<std::string> ParseSecret(std::string_view text) {
  if (IsSecretName(text)) return std::string(text);
  return Fail(
      Error(Code::kInvalidArgument, "must hold names of secrets, such as \"GITHUB_TOKEN\", not " + Quoted(text)));
}

Result<std::string> ParseFlag(std::string_view text) {
  const bool plain = text.size() > 1 && (text[0] == '-' || text[0] == '+') && text != "--" && !HasControl(text) &&
                     text.find_first_of(" =") == std::string_view::npos;
  if (plain) return std::string(text);
  return Fail(Error(Code::kInvalidArgument, "must hold flags, such as \"-f\" or \"--force\", not " + Quoted(text)));
}

Result<std::string> ParseHelper(std::string_view text) {
  const bool is_path = text.find('/') != std::string_view::npos;
  if (!text.empty() && !HasControl(text) && text.find(' ') == std::string_view::npos &&
      (!is_path || (IsNormalPath(text) && ParsePathPattern(text)))) {
    return std::string(text);
  }
  return Fail(Error(Code::kInvalidArgument, "must hold names or absolute paths of programs, not " + Quoted(text)));
}

// The key says what an action is about, and neither is of use without the other.
void RequireBoth(TableReader& table, std::string_view key, bool has_key, bool has_action, std::string_view action) {
  if (has_action && !has_key) {
    table.Refuse(key, "must be given: it says what " + std::string(action) + " is about");
  } else if (has_key && !has_action) {
    table.Refuse(key, "must not be given without the action " + std::string(action));
  }
}

void RequireKeys(TableReader& table, const Rule& rule) {
  if (!table.Has("effect")) table.Refuse("effect", "must be given: \"allow\", \"ask\" or \"deny\"");
  if (rule.actions.empty() && !table.Has("actions")) {
    table.Refuse("actions", "must be given, such as [\"file.read\"]");
    return;
  }
  const bool of_files = Has(rule, Action::kFileRead) || Has(rule, Action::kFileWrite) || Has(rule, Action::kFileDelete);
  RequireBoth(table, "paths", !rule.paths.empty(), of_files, "file.read, file.write or file.delete");
  RequireBoth(table, "commands", !rule.commands.empty(), Has(rule, Action::kProcessExec), "process.exec");
  RequireBoth(table, "hosts", !rule.hosts.empty(), Has(rule, Action::kNetworkConnect), "network.connect");
  RequireBoth(table, "secrets", !rule.secrets.empty(), Has(rule, Action::kSecretUse), "secret.use");
}

}  // namespace

Rule RuleReader::Read(TableReader& table, std::size_t number) {
  Rule rule;
  rule.source = table.place();
  rule.name = table.Text("name").value_or("rule " + std::to_string(number));
  if (rule.name.empty() || rule.name.size() > kLongestName || HasControl(rule.name)) {
    table.Refuse("name", "must have 1 to 100 characters, and no control characters");
  } else if (IsReserved(rule.name)) {
    table.Refuse("name", "must be another: decisions say " + Quoted(rule.name) + " when no rule decided");
  }
  constexpr std::array kEffects = {Effect::kAllow, Effect::kAsk, Effect::kDeny};
  if (const auto effect = table.Choice("effect", {"allow", "ask", "deny"})) rule.effect = kEffects.at(*effect);
  ReadActions(table, rule);
  const auto enforcement = table.Choice("enforcement", {"kernel", "tool"});
  rule.enforcement = enforcement.value_or(0) == 1 ? Enforcement::kTool : Enforcement::kKernel;
  ReadSubjects(table, rule);
  ReadConditions(table, rule);
  rule.reason = table.Text("reason").value_or("");
  if (rule.reason.size() > kLongestReason || HasControl(rule.reason)) {
    table.Refuse("reason", "must have at most 1000 characters, and no control characters");
  }
  ReadExamples(table, rule);
  // A key that is missing is most likely there under a mistyped name, which says more.
  if (table.RemainingKeys().empty()) RequireKeys(table, rule);
  return rule;
}

void RuleReader::ReadActions(TableReader& table, Rule& rule) {
  for (const std::string& name : table.Texts("actions", TableReader::One::kTaken)) {
    const auto action = ActionOf(name);
    if (!action) {
      table.Refuse("actions", MustBeAction(name));
    } else if (!Has(rule, *action)) {
      rule.actions.push_back(*action);
    }
  }
  if (table.Has("actions")) {
    if (rule.actions.empty()) table.Refuse("actions", "must hold an action, such as \"file.read\"");
  } else if (table.Has("commands")) {
    rule.actions = {Action::kProcessExec};
  }
}

void RuleReader::ReadSubjects(TableReader& table, Rule& rule) {
  rule.paths = ParseEach<PathPattern>(table, "paths", ParsePathPattern);
  rule.commands = ParseEach<CommandPattern>(table, "commands", ParseCommandPattern);
  rule.hosts = ParseEach<std::string>(table, "hosts", ParseHostPattern);
  rule.secrets = ParseEach<std::string>(table, "secrets", ParseSecret);
  rule.forbid_flags = ParseEach<std::string>(table, "forbid_flags", ParseFlag);
  rule.require_flags = ParseEach<std::string>(table, "require_flags", ParseFlag);
  rule.helpers = ParseEach<std::string>(table, "helpers", ParseHelper);

  const bool of_commands = Has(rule, Action::kProcessExec);
  for (const char* key : {"forbid_flags", "require_flags", "helpers"}) {
    if (table.Has(key) && !of_commands) table.Refuse(key, "must not be given without the action process.exec");
  }
  const auto is_glob = [](const PathPattern& path) { return path.kind == PathPattern::Kind::kGlob; };
  const auto glob = std::find_if(rule.paths.begin(), rule.paths.end(), is_glob);
  if (glob != rule.paths.end() && rule.enforcement == Enforcement::kKernel) {
    table.Refuse("paths", "must hold single paths or \"DIR/**\": the kernel knows no other patterns, such as " +
                              Quoted(glob->text) + "; give the rule enforcement = \"tool\" to have it bind tools only");
  }
}

void RuleReader::ReadConditions(TableReader& table, Rule& rule) {
  ReadWindow(table, rule);
  rule.not_before = table.Moment("not_before");
  rule.expires_at = table.Moment("expires_at");
  if (rule.not_before && rule.expires_at && *rule.not_before >= *rule.expires_at) {
    table.Refuse("expires_at", "must come after 'not_before'");
  }
  if (const auto uses = table.Whole("max_uses", 1, std::numeric_limits<std::int32_t>::max())) {
    rule.max_uses = static_cast<std::uint32_t>(*uses);
  }
  const auto on_end = table.Choice("on_end", {"finish", "stop"});
  if (on_end && *on_end == 1) rule.on_end = OnEnd::kStop;
  if (!on_end) return;
  if (rule.effect != Effect::kAllow) {
    table.Refuse("on_end", "must not be given but with effect = \"allow\": no other rule lets a command run");
  } else if (!table.Has("when") && !table.Has("expires_at")) {
    table.Refuse("on_end", "must not be given without 'when' or 'expires_at': nothing ends the rule");
  }
}

void RuleReader::ReadWindow(TableReader& table, Rule& rule) {
  auto reader = table.SubTable("when");
  if (!reader) return;
  Window window;
  const auto days = reader->Text("days");
  const auto hours = reader->Text("hours");
  const auto zone = reader->Text("timezone");
  if (days) {
    const auto parsed = ParseDays(*days);
    if (!parsed) reader->Refuse("days", "must be days such as \"mon-fri\" or \"sat,sun\", not " + Quoted(*days));
    window.days = parsed.value_or(0);
    window.days_text = *days;
  }
  if (hours) {
    const auto parsed = ParseHours(*hours).value_or(Hours{});
    if (parsed.from == parsed.to) {
      reader->Refuse("hours", "must be hours such as \"09:00-18:00\" or \"22:00-06:00\", not " + Quoted(*hours));
    }
    window.from = parsed.from;
    window.to = parsed.to;
    window.hours_text = *hours;
  }
  if (!reader->Has("days") && !reader->Has("hours")) table.Refuse("when", "must have days or hours");
  if (zone) {
    window.zone = FindZone(*reader, *zone);
  } else if (!reader->Has("timezone")) {
    table.Refuse("when", "must have a timezone, such as \"Europe/Berlin\" or \"UTC\"");
  }
  (void)reader->Finish();  // the outer reader tells
  if (window.zone != nullptr) rule.when = std::move(window);
}

std::shared_ptr<const Zone> RuleReader::FindZone(TableReader& window, const std::string& name) {
  auto& known = known_zones_[name];
  if (known != nullptr) return known;
  auto found = zones_.Find(name);
  if (found) return known = *std::move(found);
  if (found.error().code() != Code::kInvalidArgument) {
    if (!unsupported_) unsupported_ = std::move(found).error().Context(window.PlaceOf("timezone"));
  } else {
    window.Refuse("timezone", "must be a time zone such as \"Europe/Berlin\": " + found.error().message());
  }
  return nullptr;
}

void RuleReader::ReadExamples(TableReader& table, const Rule& rule) {
  examples_.clear();
  for (const bool matches : {true, false}) {
    const std::string_view key = matches ? "match" : "not_match";
    for (std::string& command : table.Texts(key, TableReader::One::kTaken)) {
      examples_.push_back({.command = std::move(command), .matches = matches, .place = table.PlaceOf(key)});
    }
    if (table.Has(key) && !Has(rule, Action::kProcessExec)) {
      table.Refuse(key, "must not be given without the action process.exec");
    }
  }
}

}  // namespace caisson::policy
