#include "caisson/cli/command_lookup.h"

#include "caisson/base/utf8.h"

namespace caisson::cli {

Result<client::CommandView> FindCommand(const std::vector<client::CommandView>& commands,
                                        const std::optional<std::string>& given) {
  if (commands.empty()) {
    return Fail(Error(Code::kNotFound, "the sandbox has no command")
                    .Because("none was started in it, or none is remembered")
                    .Remedy("start one with `caisson exec`"));
  }
  if (!given) return commands.back();
  const client::CommandView* found = nullptr;
  for (const client::CommandView& command : commands) {
    if (!command.id.starts_with(*given) && !command.id.starts_with("cm_" + *given)) continue;
    if (found != nullptr) {
      return Fail(Error(Code::kInvalidArgument, "several commands begin with " + Quoted(*given))
                      .Because("for example " + found->id + " and " + command.id)
                      .Remedy("give more of its id"));
    }
    found = &command;
  }
  if (found != nullptr) return *found;
  return Fail(Error(Code::kNotFound, "the sandbox has no command " + Quoted(*given))
                  .Because("no id of one begins so")
                  .Remedy("`caisson inspect` names them"));
}

Result<client::CommandView> FindCommand(client::Http& http, const std::string& sandbox,
                                        const std::optional<std::string>& given) {
  CAISSON_TRY(const std::vector<client::CommandView> commands, client::ListCommands(http, sandbox));
  return FindCommand(commands, given);
}

}  // namespace caisson::cli
