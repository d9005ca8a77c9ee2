#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/plan/change.h"
#include "caisson/sandbox/files.h"
#include "caisson/service/caller.h"
#include "caisson/service/requests.h"
#include "caisson/tool/call.h"
#include "caisson/tool/data.h"

namespace caisson::service {

// Reads the output of one command in order, by offset, while it runs and after. Not thread-safe; one reader each.
// While a follower of a running command lags behind by more than the spool holds, the command waits for it.
class OutputFollower {
 public:
  virtual ~OutputFollower() = default;
  struct Chunk {
    Stream stream = Stream::kStdout;
    std::uint64_t offset = 0;
    std::string bytes;          // empty with `dropped`
    std::uint64_t dropped = 0;  // so many bytes from `offset` on are not kept any more
  };
  // What comes next of whichever stream has something, at most `limit` bytes; nothing: none now.
  virtual Result<std::optional<Chunk>> Next(std::size_t limit) = 0;
  // The same, but where the bytes lie in place of them: it stays so until the next call of either function.
  struct Slice {
    int file = -1;  // borrowed
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  struct Place {
    Chunk chunk;  // without bytes
    Slice slice;  // empty with `dropped`
  };
  virtual Result<std::optional<Place>> NextPlace(std::size_t limit) = 0;
  // True when everything was read and the command has ended.
  virtual bool Finished() const = 0;
  // Calls `ready` once, from any thread and perhaps at once, when Next may give something or Finished has become true.
  // A second call replaces the first. After Cancel returns, nothing is called any more.
  virtual void Await(std::function<void()> ready) = 0;
  virtual void Cancel() = 0;
};

// Reads the node's events in order.
class EventFollower {
 public:
  virtual ~EventFollower() = default;
  // Nothing: none now, or none could be read, which is tried again a few times. An error: it could not be read for so
  // long that the follower is to begin anew.
  virtual Result<std::optional<Event>> Next() = 0;
  virtual void Await(std::function<void()> ready) = 0;  // as above
  virtual void Cancel() = 0;
};

// Everything a face can ask of a node, one function for each. Thread-safe. Each checks the caller's permission first
// (kPermissionDenied) and may block: faces call from worker threads. A sandbox is named by its id, by a beginning of it
// that only one has, or by its name. Errors common to all: kNotFound, kUnavailable.
class Service {
 public:
  virtual ~Service() = default;

  // Blocks until it runs. The policy is judged before anything is made: kInvalidArgument with the place of its mistake,
  // kUnsupported for what this kernel cannot hold. Errors: also kAlreadyExists (the name), kResourceExhausted with the
  // detail `retry_after_ms` when the node has no room, kConflict (an idempotency key used for something else, or whose
  // request still runs).
  virtual Result<SandboxInfo> Create(const Caller& caller, const CreateRequest& request) = 0;
  virtual Result<SandboxInfo> Get(const Caller& caller, std::string_view sandbox) = 0;
  virtual Result<Page<SandboxInfo>> List(const Caller& caller, const ListRequest& request) = 0;
  // Each returns the sandbox as it is then. Errors: kConflict, which names the state it was in.
  virtual Result<SandboxInfo> Pause(const Caller& caller, std::string_view sandbox) = 0;
  // Of a paused one, or of one that was stopped: that starts anew with its files.
  virtual Result<SandboxInfo> Resume(const Caller& caller, std::string_view sandbox) = 0;
  // Ends its processes and keeps its files. Of one that is stopped nothing happens. Errors: kConflict also when its
  // files are in memory, or it uses a folder of the host in place.
  virtual Result<SandboxInfo> Stop(const Caller& caller, std::string_view sandbox) = 0;
  // In every state, and again. kNotFound only for what never was, or is forgotten.
  virtual Result<SandboxInfo> Delete(const Caller& caller, std::string_view sandbox) = 0;

  virtual Result<PolicyInfo> GetPolicy(const Caller& caller, std::string_view sandbox) = 0;
  // Of one that lives, or is stopped. Tools that are called from now on follow it. What tools have started goes on as
  // it was let run, or is stopped whole: outcome cancelled, with a decision that says why. Errors: kInvalidArgument and
  // kUnsupported as of Create; kConflict when the sandbox was made so that the policy cannot be held in it.
  virtual Result<PolicyInfo> SetPolicy(const Caller& caller, std::string_view sandbox, const PolicyChange& change) = 0;

  // Starts one and returns when its program runs or could not be started, which is an outcome; so is that its policy
  // refuses it. Errors: with a policy also those of RunTool, kInvalidArgument for one that runs as root, and kConflict
  // when the sandbox was made so that the policy cannot be held in it.
  virtual Result<CommandInfo> StartCommand(const Caller& caller, std::string_view sandbox,
                                           const CommandRequest& request) = 0;
  // The same for an agent's tool. A call that the policy refuses takes a step too, and is recorded as a command that
  // has ended: outcome denied or needs_approval. Errors: also kUnsupported (the image has no bash, for a text; the
  // kernel cannot hold a program to the policy).
  virtual Result<ToolStep> RunTool(const Caller& caller, std::string_view sandbox, const tool::RunCommand& call) = 0;
  // Every other tool. What the policy refuses is an outcome, as for RunTool; what cannot be done (no such file, a text
  // that is not there) is an error, with the number of the step as its detail `step`.
  virtual Result<StepResult> CallTool(const Caller& caller, std::string_view sandbox, const tool::Call& call) = 0;
  virtual Result<CommandInfo> GetCommand(const Caller& caller, std::string_view sandbox, std::string_view command) = 0;
  virtual Result<std::vector<CommandInfo>> ListCommands(const Caller& caller, std::string_view sandbox) = 0;
  // The result of a command that has ended; kConflict while it runs.
  virtual Result<StepResult> ResultOf(const Caller& caller, std::string_view sandbox, std::string_view command) = 0;
  // Calls `ended` once, from any thread and perhaps at once, when the command has ended and its result is recorded.
  virtual Status AwaitEnd(const Caller& caller, std::string_view sandbox, std::string_view command,
                          std::function<void()> ended) = 0;
  // Bytes before the offsets are passed over.
  virtual Result<std::unique_ptr<OutputFollower>> FollowOutput(const Caller& caller, std::string_view sandbox,
                                                               std::string_view command, std::uint64_t stdout_from,
                                                               std::uint64_t stderr_from) = 0;
  // How many of the bytes the command's input took; it waits at most 1 s for room. Errors: kConflict (no input is
  // open).
  virtual Result<std::size_t> WriteInput(const Caller& caller, std::string_view sandbox, std::string_view command,
                                         std::string_view bytes) = 0;
  virtual Status CloseInput(const Caller& caller, std::string_view sandbox, std::string_view command) = 0;
  // Errors: kConflict unless the sandbox is running.
  virtual Status Signal(const Caller& caller, std::string_view sandbox, std::string_view command, int signal) = 0;
  // Kills its process tree: outcome cancelled. Of one that has ended nothing happens.
  virtual Status Cancel(const Caller& caller, std::string_view sandbox, std::string_view command) = 0;

  virtual Result<sandbox::FileContent> ReadFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                                std::uint64_t offset, Bytes limit) = 0;
  virtual Result<sandbox::Wrote> WriteFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                           std::string_view content, sandbox::IfExists if_exists) = 0;
  virtual Result<std::vector<sandbox::FileEntry>> ListFolder(const Caller& caller, std::string_view sandbox,
                                                             std::string_view path) = 0;
  virtual Status DeleteFile(const Caller& caller, std::string_view sandbox, std::string_view path) = 0;
  // Everything that differs from what the sandbox was made from.
  virtual Result<plan::ChangeList> Changes(const Caller& caller, std::string_view sandbox) = 0;

  // Events with a number greater than `after`; those that are no longer kept are passed over.
  virtual Result<std::unique_ptr<EventFollower>> FollowEvents(const Caller& caller, std::uint64_t after) = 0;
  // Empty when sandboxes can be made; otherwise why not.
  virtual std::string NotReady() = 0;
};

}  // namespace caisson::service
