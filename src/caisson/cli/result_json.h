#pragma once

#include <string>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/hint/hint.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {

// The result object of one step, on one line: every field is there, those that do not apply are null. Both streams are
// text, or both are base64 when either is not UTF-8; a sequence that truncation cut short is left out of text.
std::string ResultJson(const SandboxId& sandbox, const sandbox::CommandResult& result,
                       const std::vector<hint::Hint>& hints = {});

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

}  // namespace caisson::cli
