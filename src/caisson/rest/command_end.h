#pragma once

#include <memory>

#include "caisson/rest/reply.h"
#include "caisson/service/service.h"

namespace caisson::rest {

// Whether the result names the command in `data`, as that of a tool does.
enum class NameCommand : std::uint8_t { kNo, kYes };

// Waits for the end of a command that the caller started and whose result is the answer. When the client goes, the
// command is cancelled. The service outlives it.
std::shared_ptr<PendingReply> AwaitCommand(service::Service& service, service::Caller caller, service::CommandInfo info,
                                           NameCommand name);

}  // namespace caisson::rest
