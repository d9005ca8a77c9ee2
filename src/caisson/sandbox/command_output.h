#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/spool_file.h"

namespace caisson::sandbox {

enum class OutputStreamKind : std::uint8_t { kStdout, kStderr };

class OutputReader;

// What a command writes, in two spools, with one writer and any number of readers. Thread-safe.
class CommandOutput : public std::enable_shared_from_this<CommandOutput> {
 public:
  enum class Command { kRunning, kEnded };
  // Files named after `id` in `directory` (borrowed), each made with the first byte of its stream. Of a command that
  // has ended what has no file is empty: who knows how much there was sees whether it is gone.
  static Result<std::shared_ptr<CommandOutput>> Create(int directory, const std::string& id);
  static Result<std::shared_ptr<CommandOutput>> Open(int directory, const std::string& id, Command command);
  static void Remove(int directory, const std::string& id);
  // What they take on the disk.
  static std::uint64_t DiskBytes(int directory, const std::string& id);

  // For the one that moves the output. Take as SpoolFile::Take; where MustWait is true it drops nothing, and the spool
  // grows beyond its window.
  SpoolFile::Moved Take(OutputStreamKind stream, int pipe);
  // While a reader lags behind so far that a byte it has not seen would be dropped, the command waits.
  bool MustWait(OutputStreamKind stream) const;
  // The command has ended and all of its output was taken.
  void Finish();
  // Readable when something changed that the mover looks at; to be read empty. Wake makes it so.
  int wake_fd() const { return wake_.get(); }
  void Wake() const;

  std::uint64_t total(OutputStreamKind stream) const;
  // What a result holds of a stream.
  CapturedOutput Capture(OutputStreamKind stream, Bytes kept) const;

  // Bytes before the offsets are passed over.
  std::unique_ptr<OutputReader> Follow(std::uint64_t stdout_from, std::uint64_t stderr_from);

 private:
  friend class OutputReader;
  CommandOutput(SpoolFile out, SpoolFile err, os::Fd wake, Command command)
      : spools_{std::move(out), std::move(err)},
        wake_(std::move(wake)),
        ended_(command == Command::kEnded),
        ordered_from_{spools_[0].end(), spools_[1].end()} {}
  // With the lock held.
  void RememberOrder(OutputStreamKind stream, std::uint64_t from);
  void TellReaders();
  bool HoldsUp(OutputStreamKind stream) const;
  std::uint64_t FreeUntil(OutputStreamKind stream) const;

  mutable std::mutex mutex_;
  std::array<SpoolFile, 2> spools_;
  os::Fd wake_;
  bool ended_;
  std::list<OutputReader*> readers_;
  // In which order the newest bytes were taken; of those before `ordered_from_` that is not known.
  struct Taken {
    std::size_t stream = 0;
    std::uint64_t end = 0;
  };
  std::deque<Taken> order_;
  std::array<std::uint64_t, 2> ordered_from_;
};

// Reads both streams in the order of their offsets, while the command runs and after. One thread at a time.
class OutputReader {
 public:
  ~OutputReader();
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  struct Chunk {
    OutputStreamKind stream = OutputStreamKind::kStdout;
    std::uint64_t offset = 0;
    std::string bytes;          // empty with `dropped`
    std::uint64_t dropped = 0;  // so many bytes from `offset` on are not kept any more
  };
  // What comes next, at most `limit` bytes; nothing: none now. The streams come in the order in which their bytes were
  // taken from the command, as far as that is known, and by turns before that.
  Result<std::optional<Chunk>> Next(std::size_t limit);
  // The same, but where the bytes lie: they stay there until the next call of either function.
  struct Place {
    Chunk chunk;    // without bytes
    int file = -1;  // borrowed; the bytes lie at the chunk's offset
    std::uint64_t length = 0;
  };
  Result<std::optional<Place>> NextPlace(std::size_t limit);
  // True when everything was read and the command has ended.
  bool Finished() const;
  // Calls `ready` once, from any thread and perhaps at once, when Next may give something or Finished has become true.
  // It must not call this object. A second call replaces the first.
  void Await(std::function<void()> ready);
  // After it returns nothing is called any more.
  void Cancel();

 private:
  friend class CommandOutput;
  OutputReader(std::shared_ptr<CommandOutput> output, std::array<std::uint64_t, 2> next)
      : output_(std::move(output)), next_(next) {}
  // With the lock held.
  bool HasNews() const;
  struct Turn {
    std::size_t stream = 0;
    std::uint64_t until = 0;
  };
  std::optional<Turn> WhoseTurn() const;
  // What comes next, passed over already when it is not kept.
  std::optional<Place> Locate(std::size_t limit);
  // The bytes of the last Place are not looked at any more.
  void LetGo();
  void Pass(std::uint64_t length);

  std::shared_ptr<CommandOutput> output_;  // also its command's, and other readers'
  std::array<std::uint64_t, 2> next_;
  std::size_t last_ = 1;    // the stream of the last chunk
  std::uint64_t held_ = 0;  // of it from next_ on
  std::function<void()> ready_;
};

}  // namespace caisson::sandbox
