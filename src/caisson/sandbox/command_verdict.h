#pragma once

#include <sys/types.h>

#include <optional>

#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/command_state.h"

namespace caisson::sandbox {

// What is judged about a command once it has ended, however it was waited for. Private to the module.

// One read of what a guest says through a command's end pipe, or of a copy of it. Absent: the guest died without a
// word, or says what cannot be.
std::optional<proto::End> ReadCommandEnd(int fd);

// Of a command whose program never ran.
FailedToStart ExplainStart(const backend::Instance::Started& started);

// Of a command whose end was not decided by its engine.
Outcome Classify(const proto::End& end, const backend::Leaf& leaf);

// Fills in what the kernel counted.
void Measure(const backend::Leaf& leaf, CommandResult& result);

// Fills in what changed since the command started, when that is wanted.
void TakeChanges(Command::State& state, CommandResult& result);

}  // namespace caisson::sandbox
