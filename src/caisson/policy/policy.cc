#include "caisson/policy/policy.h"

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/policy/policy_digest.h"
#include "caisson/policy/policy_reader.h"
#include "caisson/policy/preset.h"
#include "caisson/policy/rule_set.h"
#include "caisson/policy/zone.h"

namespace caisson::policy {

struct Policy::Content {
  std::string name;
  RuleSet rules;
  std::string digest;
  std::string text;
  document::Format format = document::Format::kToml;
};

Result<Policy> Policy::Read(std::string_view text, document::Format format, std::string_view file,
                            const ZoneSource& zones) {
  CAISSON_TRY(RuleSet rules, ReadRules(text, format, file, zones));
  std::string digest = DigestOf(rules);
  return Policy(std::make_shared<const Content>(Content{.name = std::string(file),
                                                        .rules = std::move(rules),
                                                        .digest = std::move(digest),
                                                        .text = std::string(text),
                                                        .format = format}));
}

Result<Policy> Policy::Preset(std::string_view name) {
  const auto text = PresetFile(name);
  if (!text) {
    const auto& names = PresetNames();
    const auto nearest = NearestName(name, std::vector<std::string>(names.begin(), names.end()));
    std::string all;
    for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
    return Fail(Error(Code::kInvalidArgument, "there is no preset " + Quoted(name))
                    .Because("the presets are " + all)
                    .Remedy(nearest ? "did you mean " + Quoted(*nearest) + "?" : "name one of them, or a file"));
  }
  const std::string source = "preset " + std::string(name);
  CAISSON_TRY(const RuleSet read, ReadRules(*text, document::Format::kToml, source, SystemZones()));
  std::vector<Rule> rules = read.rules();
  for (Rule& rule : rules) rule.source = source;
  RuleSet set(source, read.default_effect(), std::move(rules));
  std::string digest = DigestOf(set);
  return Policy(std::make_shared<const Content>(Content{.name = std::string(name),
                                                        .rules = std::move(set),
                                                        .digest = std::move(digest),
                                                        .text = *text,
                                                        .format = document::Format::kToml}));
}

const std::vector<std::string_view>& Policy::PresetNames() { return PresetFileNames(); }

const std::string& Policy::name() const { return content_->name; }
Effect Policy::default_effect() const { return content_->rules.default_effect(); }
const std::vector<Rule>& Policy::rules() const { return content_->rules.rules(); }
bool Policy::allows_everything() const { return content_->rules.allows_everything(); }
const std::string& Policy::digest() const { return content_->digest; }
const std::string& Policy::text() const { return content_->text; }
document::Format Policy::format() const { return content_->format; }
const RuleSet& Policy::rule_set() const { return content_->rules; }

}  // namespace caisson::policy
