#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/hint/hint.h"
#include "caisson/sandbox/command.h"

namespace boost::json {
class object;
}

namespace caisson::wire {

// The result object of one step: every field is there, those that do not apply are null. Both streams are text, or both
// are base64 when either is not UTF-8; a sequence that truncation cut short is left out of text.
boost::json::object ResultObject(const SandboxId& sandbox, std::uint64_t step, const sandbox::CommandResult& result,
                                 const std::vector<hint::Hint>& hints);

// The same on one line, of a sandbox whose only step this is.
std::string ResultJson(const SandboxId& sandbox, const sandbox::CommandResult& result,
                       const std::vector<hint::Hint>& hints = {});

}  // namespace caisson::wire
