#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/option_values.h"
#include "caisson/cli/template_report.h"
#include "caisson/cli/template_values.h"
#include "caisson/policy/policy.h"
#include "caisson/policy/zone.h"
#include "caisson/template/read.h"
#include "caisson/template/settings.h"

namespace caisson::cli {
namespace {

// The file that was named, as an operand first.
std::optional<std::string> NamedFile(const CommandLine& line) {
  if (line.operands.size() > 1) return line.operands[1];
  if (const OptionValue* given = line.Find(Option::kTemplate)) return given->text;
  return std::nullopt;
}

Status CheckPolicy(const templates::Given<std::string>& policy, const std::string& folder) {
  CAISSON_TRY(const std::string text, templates::LoadPolicyText(folder, policy));
  const auto format = policy.value.ends_with(".json") ? document::Format::kJson : document::Format::kToml;
  auto read = policy::Policy::Read(text, format, policy.value, policy::SystemZones());
  if (!read) return Fail(std::move(read).error());
  return {};
}

void CheckContent(const templates::Template& content, const std::string& folder, TemplateCheck& check) {
  if (content.policy && !templates::IsPolicyPreset(content.policy->value)) {
    if (const Status policy = CheckPolicy(*content.policy, folder); !policy) check.mistakes.push_back(policy.error());
  }
  if (content.tier) {
    const templates::Setting tier{templates::TierName(content.tier->value), content.tier->source};
    if (auto lacking = templates::LackingTier(tier)) check.lacking.push_back(std::move(*lacking));
  }
  for (templates::Lacking& lacking : content.NotYet()) check.lacking.push_back(std::move(lacking));
  if (!content.profile) return;
  const auto profile = templates::FindProfile(content.profile->value);
  if (!profile) return;  // its name was checked with the rest
  for (templates::Lacking& lacking : profile->NotYet()) check.lacking.push_back(std::move(lacking));
}

Result<TemplateCheck> Check(const std::string& file) {
  CAISSON_TRY(const templates::LoadedText loaded, templates::LoadText(file));
  templates::Reading reading = templates::ReadWithMistakes(loaded.text, file);
  TemplateCheck check{.file = file, .mistakes = std::move(reading.mistakes), .lacking = {}};
  if (reading.content) CheckContent(*reading.content, loaded.folder, check);
  return check;
}

Result<std::string> Show(CommandLine line) {
  if (const auto file = NamedFile(line)) line.values[Option::kTemplate] = {{*file, "--template"}};
  CAISSON_TRY(EffectiveValues values, ReadValues(line));
  // What an option or a variable says is judged as `run` and `create` do.
  if (auto limits = ReadLimits(values.line); !limits) return Fail(std::move(limits).error());
  if (auto variables = ReadVariables(values.line); !variables) return Fail(std::move(variables).error());
  if (values.tier) {
    if (auto lacking = templates::LackingTier(*values.tier)) values.lacking.push_back(std::move(*lacking));
  }
  const std::vector<ShownValue> shown = ShownValues(values);
  return line.Has(Option::kJson) ? ShowJson(shown, values.lacking) : ShowText(shown, values.lacking);
}

Error UnknownVerb(const std::string& verb) {
  const auto nearest = NearestName(verb, {"check", "show"});
  return Error(Code::kInvalidArgument, "template does not know " + Quoted(verb))
      .Because(nearest ? "the nearest it knows is " + *nearest : "it knows check and show")
      .Remedy("write: caisson template check, or caisson template show");
}

}  // namespace

int TemplateCommand(const CommandLine& line) {
  const Format format = line.Has(Option::kJson) ? Format::kJson : Format::kText;
  const auto fail = [format](const Error& error, int status) {
    PrintError(error, format);
    return status;
  };
  const std::string& verb = line.operands.front();
  if (verb == "show") {
    const Result<std::string> shown = Show(line);
    return shown ? PrintOrFail(*shown, kSuccess, kFailed) : fail(shown.error(), kFailed);
  }
  if (verb != "check") return fail(UnknownVerb(verb), kUsageError);
  const Result<TemplateCheck> check = Check(NamedFile(line).value_or("caisson.toml"));
  if (!check) return fail(check.error(), kFailed);
  const int status = check->mistakes.empty() ? kSuccess : kNegativeAnswer;
  return PrintOrFail(format == Format::kJson ? CheckJson(*check) : CheckText(*check), status, kFailed);
}

}  // namespace caisson::cli
