// Races between what is checked and what is used. One thread changes the thing all the time, the other checks it and
// uses it. Outside the check is all there is, and the race is won; inside what the loser gets must be all there is.
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

constexpr std::string_view kOwn = "own";

// How often the use met the forbidden thing although the check had seen the allowed one.
struct Tally {
  long rounds = 0;
  long won = 0;      // and got it
  long refused = 0;  // and did not
  int error = 0;     // the last refusal

  // One use: the descriptor it gave, or the errno.
  void Count(const os::Fd& fd, int open_error) {
    if (!fd.valid()) {
      ++refused;
      error = open_error;
      return;
    }
    char content[kOwn.size()] = {};
    const ssize_t count = ::read(fd.get(), content, sizeof(content));
    const bool is_own = count == static_cast<ssize_t>(kOwn.size()) && kOwn == std::string_view(content, kOwn.size());
    if (!is_own) ++won;
  }
};

constexpr long kEnoughMeetings = 10;

// Repeats `round` while `disturb` runs beside it: `--rounds` times, and on until the two have met often enough for the
// result to mean something. On a busy machine the two threads hardly ever run at the same moment: in the rounds beyond
// those asked for, what `round` calls between check and use waits for a move of the other.
template <typename Disturb, typename Round>
Outcome Race(const Context& context, Disturb disturb, Round round) {
  const std::string* rounds = context.Find("rounds");
  const long wanted = rounds == nullptr ? 10000 : std::atol(rounds->c_str());
  ::alarm(static_cast<unsigned>(30 + wanted / 20000));
  std::atomic<bool> stop = false;
  std::atomic<unsigned> moves = 0;
  std::thread other([&] {
    for (; !stop.load(std::memory_order_relaxed); ++moves) disturb();
  });
  Tally tally;
  const auto between = [&] {
    if (tally.rounds <= wanted) return;
    for (const unsigned seen = moves; moves == seen;) ::sched_yield();
  };
  while (tally.rounds < wanted || tally.won + tally.refused < kEnoughMeetings) {
    ++tally.rounds;
    round(tally, between);
  }
  stop = true;
  other.join();
  const std::string note = std::to_string(tally.rounds) + " rounds, " + std::to_string(tally.won) + " won, " +
                           std::to_string(tally.refused) + " refused";
  return tally.won > 0 ? Succeeded(note) : Refused(tally.error, note);
}

// The path lies in memory that another thread writes to: the names of a file of one's own and of a link to the host's
// take turns in its last byte. The check is a system call, as that of a supervisor is.
Outcome RacePathInMemory(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  const Scratch scratch;
  std::string path = scratch.File("a");
  if (!scratch.valid() || !WriteSmallFile(path, kOwn)) return NotRun("no scratch file");
  if (::symlink(canary->c_str(), scratch.File("b").c_str()) != 0) return NotRun("cannot make a symlink");
  std::atomic_ref<char> last(path.back());
  return Race(
      context, [&] { last ^= 'a' ^ 'b'; },
      [&](Tally& tally, const auto& between) {
        struct stat status{};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
        between();
        const os::Fd fd(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0)));
        tally.Count(fd, errno);
      });
}

// A folder and a link to the host's folder take turns under one name.
Outcome RaceFolderAgainstLink(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  const std::size_t slash = canary->rfind('/');
  const Scratch scratch;
  const std::string folder = scratch.File("folder");
  const std::string link = scratch.File("link");
  const std::string file = folder + canary->substr(slash);
  if (!scratch.valid() || ::mkdir(folder.c_str(), 0755) != 0 || !WriteSmallFile(file, kOwn) ||
      ::symlink(canary->substr(0, slash).c_str(), link.c_str()) != 0) {
    return NotRun("no scratch folder");
  }
  const auto exchange = [&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  };
  if (exchange() != 0 || exchange() != 0) return NotRun("cannot exchange a folder and a link");
  return Race(context, exchange, [&](Tally& tally, const auto& between) {
    struct stat status{};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
    between();
    const os::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    tally.Count(fd, errno);
  });
}

}  // namespace

Probes RaceProbes() {
  return {
      {"race_path", "F8", "change a path between its check and its use", RacePathInMemory},
      {"race_folder", "A4", "put a link in a folder's place between check and use", RaceFolderAgainstLink},
  };
}

}  // namespace caisson::escape
