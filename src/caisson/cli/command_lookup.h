#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/client/commands.h"

namespace caisson::cli {

// The command that `given` means: its id, or the beginning of one that only one has, with or without "cm_"; without
// `given` the one that was started last. Pure. Errors: kNotFound; kInvalidArgument when several begin so.
Result<client::CommandView> FindCommand(const std::vector<client::CommandView>& commands,
                                        const std::optional<std::string>& given);

// The same of the commands of a sandbox.
Result<client::CommandView> FindCommand(client::Http& http, const std::string& sandbox,
                                        const std::optional<std::string>& given);

}  // namespace caisson::cli
