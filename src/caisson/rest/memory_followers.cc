#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "caisson/os/fd.h"
#include "caisson/rest/memory_state.h"

namespace caisson::rest {

using service::Caller;
using service::Stream;

class MemoryService::Output final : public service::OutputFollower {
 public:
  Output(std::shared_ptr<Shared> shared, std::shared_ptr<Command> command, std::uint64_t out, std::uint64_t err)
      : shared_(std::move(shared)), command_(std::move(command)), next_{out, err} {
    ++shared_->followers;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() override {
    const std::lock_guard lock(shared_->mutex);
    --shared_->followers;
  }
  Result<std::optional<Chunk>> Next(std::size_t limit) override {
    const std::lock_guard lock(shared_->mutex);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::string& all = command_->out[i];
      const Stream stream = i == 0 ? Stream::kStdout : Stream::kStderr;
      if (next_[i] >= all.size()) continue;
      Chunk chunk{.stream = stream, .offset = next_[i], .bytes = {}, .dropped = 0};
      if (next_[i] < command_->kept_from[i]) {
        chunk.dropped = command_->kept_from[i] - next_[i];
        next_[i] = command_->kept_from[i];
        return chunk;
      }
      chunk.bytes = all.substr(next_[i], limit);
      next_[i] += chunk.bytes.size();
      shared_->taken += chunk.bytes.size();
      return chunk;
    }
    return std::nullopt;
  }
  Result<std::optional<Place>> NextPlace(std::size_t limit) override {
    CAISSON_TRY(std::optional<Chunk> chunk, Next(limit));
    if (!chunk) return std::nullopt;
    if (!file_.valid()) file_.Reset(memfd_create("output", MFD_CLOEXEC));
    if (lseek(file_.get(), static_cast<off_t>(chunk->offset), SEEK_SET) < 0) {
      return Fail(Error::FromErrno(errno, "no file in memory"));
    }
    CAISSON_CHECK_OK(os::WriteAll(file_.get(), chunk->bytes));
    const Slice slice{.file = file_.get(), .offset = chunk->offset, .length = chunk->bytes.size()};
    chunk->bytes.clear();
    return Place{.chunk = *std::move(chunk), .slice = slice};
  }
  bool Finished() const override {
    const std::lock_guard lock(shared_->mutex);
    return IsFinished();
  }
  void Await(std::function<void()> ready) override {
    {
      const std::lock_guard lock(shared_->mutex);
      const bool has_more = next_[0] < command_->out[0].size() || next_[1] < command_->out[1].size();
      if (!has_more && !IsFinished()) {
        command_->readers[this] = std::move(ready);
        return;
      }
    }
    ready();
  }
  void Cancel() override {
    const std::lock_guard lock(shared_->mutex);
    command_->readers.erase(this);
  }

 private:
  bool IsFinished() const {
    return command_->info.state == service::CommandState::kEnded && next_[0] >= command_->out[0].size() &&
           next_[1] >= command_->out[1].size();
  }
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Command> command_;
  std::uint64_t next_[2];
  os::Fd file_;  // what a slice lies in
};

class MemoryService::Events final : public service::EventFollower {
 public:
  Events(std::shared_ptr<Shared> shared, std::uint64_t after) : shared_(std::move(shared)), next_(after) {}
  Result<std::optional<service::Event>> Next() override {
    const std::lock_guard lock(shared_->mutex);
    if (next_ >= shared_->events.size()) return std::optional<service::Event>();
    return shared_->events[next_++];
  }
  void Await(std::function<void()> ready) override {
    {
      const std::lock_guard lock(shared_->mutex);
      if (next_ >= shared_->events.size()) {
        shared_->listeners[this] = std::move(ready);
        return;
      }
    }
    ready();
  }
  void Cancel() override {
    const std::lock_guard lock(shared_->mutex);
    shared_->listeners.erase(this);
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::uint64_t next_;
};

Result<std::unique_ptr<service::OutputFollower>> MemoryService::FollowOutput(const Caller& caller,
                                                                             std::string_view sandbox,
                                                                             std::string_view command,
                                                                             std::uint64_t stdout_from,
                                                                             std::uint64_t stderr_from) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(auto found, FindCommand(caller, sandbox, command, lock));
  return std::make_unique<Output>(shared_, std::move(found), stdout_from, stderr_from);
}

Result<std::unique_ptr<service::EventFollower>> MemoryService::FollowEvents(const Caller&, std::uint64_t after) {
  return std::make_unique<Events>(shared_, after);
}

}  // namespace caisson::rest
