#pragma once

#include <span>

#include "caisson/rest/router.h"

namespace caisson::rest {

// Everything that can be asked.
std::span<const Route> Routes();

// The handlers, by what they are about. Contract: Handler.
Result<Answer> Health(const Node& node, const Request& request);
Result<Answer> Readiness(const Node& node, const Request& request);
Result<Answer> Description(const Node& node, const Request& request);
Result<Answer> Version(const Node& node, const Request& request);

Result<Answer> CreateSandbox(const Node& node, const Request& request);
Result<Answer> ListSandboxes(const Node& node, const Request& request);
Result<Answer> GetSandbox(const Node& node, const Request& request);
Result<Answer> DeleteSandbox(const Node& node, const Request& request);
Result<Answer> PauseSandbox(const Node& node, const Request& request);
Result<Answer> ResumeSandbox(const Node& node, const Request& request);
Result<Answer> StopSandbox(const Node& node, const Request& request);
Result<Answer> ListChanges(const Node& node, const Request& request);

Result<Answer> GetPolicy(const Node& node, const Request& request);
Result<Answer> SetPolicy(const Node& node, const Request& request);

Result<Answer> CallTool(const Node& node, const Request& request);
Result<Answer> StartCommand(const Node& node, const Request& request);
Result<Answer> ListCommands(const Node& node, const Request& request);
Result<Answer> GetCommand(const Node& node, const Request& request);
Result<Answer> CancelCommand(const Node& node, const Request& request);
Result<Answer> SignalCommand(const Node& node, const Request& request);
Result<Answer> WriteInput(const Node& node, const Request& request);
Result<Answer> FollowOutput(const Node& node, const Request& request);

Result<Answer> GetFile(const Node& node, const Request& request);
Result<Answer> PutFile(const Node& node, const Request& request);
Result<Answer> DeleteFile(const Node& node, const Request& request);

Result<Answer> FollowEvents(const Node& node, const Request& request);

}  // namespace caisson::rest
