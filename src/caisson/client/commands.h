#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/client/http.h"
#include "caisson/client/policy_text.h"

namespace caisson::client {

// What can be asked of a node about the commands of a sandbox. Errors of each: those of Http::Ask; kInternal for an
// answer that is not understood.

enum class Input : std::uint8_t { kNone, kOpen };

struct StartRequest {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::string> cwd;
  std::string user = "agent";  // or "root"
  std::optional<std::chrono::milliseconds> timeout;
  Input input = Input::kNone;
  std::optional<PolicyText> policy = {};  // absent: nothing is refused
};

struct CommandView {
  std::string id;
  std::string sandbox;
  std::string state;  // "running", "ended"
  std::vector<std::string> argv;
  std::string started_at;  // RFC 3339
  std::chrono::milliseconds timeout{};
  std::optional<std::string> outcome;  // once it has ended
  std::optional<int> exit_code;
  std::optional<std::string> signal;
  std::string json;  // all of it
};

struct HintView {
  std::string code;
  std::string message;
  std::string suggestion;
};

// Why a policy let a command run or not.
struct DecisionView {
  std::string effect;  // "allow", "ask" or "deny"
  std::string rule;
  std::string source;
  std::string reason;
};

// What became of a command.
struct ResultView {
  std::string outcome;
  std::optional<int> exit_code;
  std::optional<std::string> signal;          // its name
  std::optional<DecisionView> decision = {};  // absent: no policy was asked
  std::vector<HintView> hints;
  std::string json;  // all of it
};

// Pure. Errors: kInternal when `text` is no result object.
Result<ResultView> ReadResult(std::string_view text);

// The body of the request, always for the background. Errors: kInvalidArgument when a text is not UTF-8.
Result<std::string> StartBody(const StartRequest& request);

// Returns when its program runs or could not be started.
Result<CommandView> StartCommand(Http& http, std::string_view sandbox, const StartRequest& request);
Result<std::vector<CommandView>> ListCommands(Http& http, std::string_view sandbox);
// With its result, in `json` only.
Result<CommandView> GetCommand(Http& http, std::string_view sandbox, std::string_view command);
// How many of the bytes the command took; with kYes and all taken, its input ends. Waits a second or so for room.
enum class Close : std::uint8_t { kNo, kYes };
Result<std::size_t> WriteInput(Http& http, std::string_view sandbox, std::string_view command, std::string_view bytes,
                               Close close);
// `signal`: its name, "SIGINT".
Status SignalCommand(Http& http, std::string_view sandbox, std::string_view command, std::string_view signal);
Status CancelCommand(Http& http, std::string_view sandbox, std::string_view command);

}  // namespace caisson::client
