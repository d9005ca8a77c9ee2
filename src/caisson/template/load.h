#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/template/template.h"

namespace caisson::templates {

// Opens a template that somebody named, and the policy beside it, with the caller's rights. Nothing is looked for: a
// file of this name in a workspace is never read by itself. Only regular files are opened, so that a pipe or a device
// is neither waited for nor touched, and a symbolic link in the last part of a name is not followed.

struct LoadedText {
  std::string text;
  std::string folder;  // of the file as named; "." for one without a slash
};

// Errors: those of open(2), kInvalidArgument for what is no regular file, kResourceExhausted for more than
// document::kMostBytes.
Result<LoadedText> LoadText(const std::string& path);

struct Loaded {
  Template content;
  std::string folder;
  std::optional<std::string> policy_text;  // absent: a preset, or no policy
};

// Errors: also the first mistake, and what keeps the policy's file from being read, with the place that names it.
Result<Loaded> Load(const std::string& path);

// The text of a template's policy file: below `folder`, through no symbolic link. `policy`: as CheckPolicyPath takes
// it.
Result<std::string> LoadPolicyText(const std::string& folder, const Given<std::string>& policy);

}  // namespace caisson::templates
