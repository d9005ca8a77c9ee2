#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caisson/service/service.h"

namespace caisson::rest {

// A service for tests of the protocol: sandboxes are entries of a map, and a command does what the test says. A command
// `echo TEXT` prints it and ends, `head` ends with its first input; every other one runs until the test, a signal or a
// cancel ends it. A tool's text starts what its words say, but for one that begins with `deny`, which is refused.
// Thread-safe.
class MemoryService final : public service::Service {
 public:
  MemoryService();

  // ---- What a test does and sees.
  std::string AddSandbox(const std::string& name);
  void AddFile(const std::string& path, std::string content);
  // Calls about the sandbox of this name block until Release.
  void Hold(const std::string& name);
  void Release();
  // Waits until so many calls are held.
  void AwaitHeld(std::size_t count);
  // Waits until so many commands were started, and names the last one.
  std::string AwaitCommand(std::size_t count);
  void Print(const std::string& command, service::Stream stream, std::string_view bytes);
  // The first bytes are kept no more.
  void Drop(const std::string& command, std::uint64_t bytes);
  void End(const std::string& command, const sandbox::Outcome& outcome);
  std::string InputOf(const std::string& command);
  void AddEvent(const std::string& type);
  void SetNotReady(std::string reason);
  std::string LastCaller();
  std::size_t Cancels();
  void AwaitCancels(std::size_t count);
  std::size_t Followers();
  // Bytes of output that were given out.
  std::uint64_t TakenByFollowers();
  std::size_t CallCount();
  // The next Create fails so.
  void FailCreate(Error error);

  // ---- service::Service
  Result<service::SandboxInfo> Create(const service::Caller& caller, const service::CreateRequest& request) override;
  Result<service::SandboxInfo> Get(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::Page<service::SandboxInfo>> List(const service::Caller& caller,
                                                   const service::ListRequest& request) override;
  Result<service::SandboxInfo> Pause(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::SandboxInfo> Resume(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::SandboxInfo> Stop(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::SandboxInfo> Delete(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::PolicyInfo> GetPolicy(const service::Caller& caller, std::string_view sandbox) override;
  Result<service::PolicyInfo> SetPolicy(const service::Caller& caller, std::string_view sandbox,
                                        const service::PolicyChange& change) override;
  Result<service::StepResult> CallTool(const service::Caller& caller, std::string_view sandbox,
                                       const tool::Call& call) override;
  Result<service::ToolStep> RunTool(const service::Caller& caller, std::string_view sandbox,
                                    const tool::RunCommand& call) override;
  Result<service::CommandInfo> StartCommand(const service::Caller& caller, std::string_view sandbox,
                                            const service::CommandRequest& request) override;
  Result<service::CommandInfo> GetCommand(const service::Caller& caller, std::string_view sandbox,
                                          std::string_view command) override;
  Result<std::vector<service::CommandInfo>> ListCommands(const service::Caller& caller,
                                                         std::string_view sandbox) override;
  Result<service::StepResult> ResultOf(const service::Caller& caller, std::string_view sandbox,
                                       std::string_view command) override;
  Status AwaitEnd(const service::Caller& caller, std::string_view sandbox, std::string_view command,
                  std::function<void()> ended) override;
  Result<std::unique_ptr<service::OutputFollower>> FollowOutput(const service::Caller& caller, std::string_view sandbox,
                                                                std::string_view command, std::uint64_t stdout_from,
                                                                std::uint64_t stderr_from) override;
  Result<std::size_t> WriteInput(const service::Caller& caller, std::string_view sandbox, std::string_view command,
                                 std::string_view bytes) override;
  Status CloseInput(const service::Caller& caller, std::string_view sandbox, std::string_view command) override;
  Status Signal(const service::Caller& caller, std::string_view sandbox, std::string_view command, int signal) override;
  Status Cancel(const service::Caller& caller, std::string_view sandbox, std::string_view command) override;
  Result<sandbox::FileContent> ReadFile(const service::Caller& caller, std::string_view sandbox, std::string_view path,
                                        std::uint64_t offset, Bytes limit) override;
  Result<sandbox::Wrote> WriteFile(const service::Caller& caller, std::string_view sandbox, std::string_view path,
                                   std::string_view content, sandbox::IfExists if_exists) override;
  Result<std::vector<sandbox::FileEntry>> ListFolder(const service::Caller& caller, std::string_view sandbox,
                                                     std::string_view path) override;
  Status DeleteFile(const service::Caller& caller, std::string_view sandbox, std::string_view path) override;
  Result<plan::ChangeList> Changes(const service::Caller& caller, std::string_view sandbox) override;
  Result<std::unique_ptr<service::EventFollower>> FollowEvents(const service::Caller& caller,
                                                               std::uint64_t after) override;
  std::string NotReady() override;

 private:
  struct Command;
  struct Shared;  // followers keep it
  class Output;
  class Events;

  // The sandbox, once it is not held; locked.
  Result<service::SandboxInfo*> Find(const service::Caller& caller, std::string_view sandbox,
                                     std::unique_lock<std::mutex>& lock);
  Result<std::shared_ptr<Command>> FindCommand(const service::Caller& caller, std::string_view sandbox,
                                               std::string_view command, std::unique_lock<std::mutex>& lock);
  Result<service::SandboxInfo> Change(const service::Caller& caller, std::string_view sandbox, sandbox::Lifecycle to);
  void EndLocked(Command& command, sandbox::Outcome outcome, std::vector<std::function<void()>>& calls);

  std::shared_ptr<Shared> shared_;
};

}  // namespace caisson::rest
