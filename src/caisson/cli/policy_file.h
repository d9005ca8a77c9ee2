#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/template_values.h"
#include "caisson/document/document.h"
#include "caisson/policy/policy.h"

namespace caisson::cli {

// A policy by its name, unread: a preset, or a file, opened with the caller's rights.
struct NamedPolicy {
  std::string name;                 // of the preset, or the file as it was named
  std::optional<std::string> text;  // absent: a preset
  // JSON with the ending .json, otherwise TOML.
  document::Format format() const;
};

// A file that is called like a preset is written with a slash. Errors: of templates::LoadText; kInvalidArgument for
// what is neither.
Result<NamedPolicy> FindPolicy(const std::string& named);
// That of the template, a preset or a file beside it, or else of the profile; absent: neither has one. Errors: of
// templates::LoadPolicyText.
Result<std::optional<NamedPolicy>> FindTemplatePolicy(const EffectiveValues& values);

// Errors: of policy::Policy::Read.
Result<policy::Policy> ReadPolicy(const NamedPolicy& named);
// The one that is found. Errors: of both.
Result<policy::Policy> LoadPolicy(const std::string& named);
// What `caisson run --policy` names: that, or with "template" the template's. Errors: also kInvalidArgument when there
// is none.
Result<policy::Policy> LoadRunPolicy(const std::string& named, const EffectiveValues& values);

}  // namespace caisson::cli
