#pragma once

#include "caisson/base/result.h"
#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/command.h"

namespace caisson::sandbox {

// The most that the arguments and the environment of one command hold together, the most of one of them, and the most
// variables. Source of the second: execve(2), MAX_ARG_STRLEN.
inline constexpr std::size_t kMaxArguments = 1U << 20U;
inline constexpr std::size_t kMaxArgument = (128U << 10U) - 1;
inline constexpr std::size_t kMaxVariables = 10'000;

// The message that starts the command. Errors: kInvalidArgument naming what is empty, malformed or too large.
Result<proto::StartCommand> MakeStartCommand(const CommandSpec& spec);

// The uid and gid of a user inside.
std::uint32_t IdOf(User user);

}  // namespace caisson::sandbox
