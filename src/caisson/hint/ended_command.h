#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/hint/hint.h"

namespace caisson::hint {

// For the tests of the rules: a command that ended so, and what it wrote.
struct EndedCommand {
  sandbox::CommandSpec command;
  sandbox::CommandResult result;
  plan::Limits limits;
  plan::Storage storage = plan::Storage::kTmpfs;
  Network network = Network::kNone;
  Delivery delivery = Delivery::kKept;

  EndedCommand(sandbox::Outcome outcome, std::string err, std::string out = {}) {
    command.argv = {"sh", "-c", "script"};
    result.outcome = std::move(outcome);
    Write(result.err, std::move(err));
    Write(result.out, std::move(out));
  }
  static void Write(sandbox::CapturedOutput& output, std::string text) {
    output.total_bytes = text.size();
    output.kept = std::move(text);
  }

  Evidence evidence() const {
    return {.command = command,
            .result = result,
            .limits = limits,
            .storage = storage,
            .network = network,
            .delivery = delivery};
  }
};

inline EndedCommand ThatFailed(std::string err, int code = 1) { return {sandbox::Exited{code}, std::move(err)}; }

// What a rule says, in one line: "MESSAGE SUGGESTION"; empty when it says nothing.
inline std::string Said(std::optional<Hint> (*rule)(const Evidence&), const EndedCommand& ended) {
  const std::optional<Hint> hint = rule(ended.evidence());
  return hint ? hint->message + " " + hint->suggestion : "";
}

inline bool Names(const std::string& said, std::string_view thing) { return said.find(thing) != std::string::npos; }

}  // namespace caisson::hint
