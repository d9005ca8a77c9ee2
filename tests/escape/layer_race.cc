// What a sandbox does to its files while the host reads or removes them (case A4): a folder and a link to a folder of
// the host take turns under one name. The host's functions must never be led through the link; the same done by paths,
// with a check before each use, is the control that the race is on and can be won.
// usage: layer_race [--long]; exit status 0 when only the control was led astray.
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string_view>
#include <thread>

#include "caisson/os/fd.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/tree_reader.h"
#include "escape/attempt.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

constexpr long kRounds = 10'000;
constexpr long kRoundsLong = 1'000'000;
constexpr unsigned kDeadlineSeconds = 120;
constexpr unsigned kDeadlineSecondsLong = 3600;

constexpr std::string_view kOwnText = "own";
constexpr std::string_view kSecretText = "secret";

// What one use of the contested name met.
enum class Met { kOwn, kNothing, kSecret };

// `layer/folder` is a folder, `layer/link` a link to `host`, and both have a file "file". They take turns until the end
// of the lifetime.
class ContestedFolder {
 public:
  ContestedFolder() : layer_(scratch_.File("layer")), host_(scratch_.File("host")) {
    std::filesystem::create_directory(layer_);
    std::filesystem::create_directory(host_);
    Refill();
    is_valid_ =
        WriteSmallFile(host_ + "/file", kSecretText) && ::symlink(host_.c_str(), (layer_ + "/link").c_str()) == 0;
    struct stat status{};
    if (::stat((host_ + "/file").c_str(), &status) == 0) secret_inode_ = status.st_ino;
    other_ = std::thread([this] {
      for (; !stop_.load(std::memory_order_relaxed); ++moves_) Exchange();
    });
  }
  ContestedFolder(const ContestedFolder&) = delete;
  ContestedFolder& operator=(const ContestedFolder&) = delete;
  ~ContestedFolder() {
    stop_ = true;
    other_.join();
  }

  bool valid() const { return is_valid_; }
  const std::string& layer() const { return layer_; }
  ino_t secret_inode() const { return secret_inode_; }
  bool SecretIsThere() const { return ::access((host_ + "/file").c_str(), F_OK) == 0; }
  void RestoreSecret() const { (void)!WriteSmallFile(host_ + "/file", kSecretText); }
  os::Fd Open() const { return os::Fd(::open(layer_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

  // Makes what a removal took. Either name may be the folder's at this moment, and neither may be there.
  void Refill() const {
    const std::string folder = layer_ + "/folder";
    ::mkdir(folder.c_str(), 0755);
    const os::Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const os::Fd file(fd.valid() ? ::openat(fd.get(), "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1);
    if (file.valid()) (void)!::write(file.get(), kOwnText.data(), kOwnText.size());
  }
  // Returns when the other thread has made a move.
  void AwaitMove() const {
    for (const unsigned seen = moves_; moves_ == seen;) ::sched_yield();
  }
  void RestoreLink() const { (void)!::symlink(host_.c_str(), (layer_ + "/link").c_str()); }

 private:
  void Exchange() const {
    ::syscall(SYS_renameat2, AT_FDCWD, (layer_ + "/folder").c_str(), AT_FDCWD, (layer_ + "/link").c_str(),
              RENAME_EXCHANGE);
  }

  Scratch scratch_;
  std::string layer_;
  std::string host_;
  bool is_valid_ = false;
  ino_t secret_inode_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<unsigned> moves_ = 0;
  std::thread other_;
};

Met WhatIsIn(const os::Fd& fd) {
  char content[kSecretText.size()] = {};
  const ssize_t count = fd.valid() ? ::read(fd.get(), content, sizeof(content)) : -1;
  if (count <= 0) return Met::kNothing;
  return kSecretText.starts_with(std::string_view(content, static_cast<std::size_t>(count))) ? Met::kSecret : Met::kOwn;
}

bool IsFolder(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// How the control takes its time between check and use. On a busy machine two threads hardly ever run at the same
// moment.
enum class Pace { kFast, kAwaitMove };

Met ReadByPath(const ContestedFolder& contested, Pace pace) {
  const std::string folder = contested.layer() + "/folder";
  if (!IsFolder(folder)) return Met::kNothing;
  if (pace == Pace::kAwaitMove) contested.AwaitMove();
  return WhatIsIn(os::Fd(::open((folder + "/file").c_str(), O_RDONLY | O_CLOEXEC)));
}

Met ReadByReader(const ContestedFolder& contested, Pace) {
  storage::TreeReader reader(contested.Open());
  return WhatIsIn(reader.OpenFile("folder/file"));
}

Met StampByReader(const ContestedFolder& contested, Pace) {
  storage::TreeReader reader(contested.Open());
  const auto stamp = reader.Stamp("folder/file");
  if (!stamp) return Met::kNothing;
  return stamp->inode == contested.secret_inode() ? Met::kSecret : Met::kOwn;
}

// After a removal the name may lead to the folder, to the link or to nothing, and all that is made again.
Met AfterRemoval(const ContestedFolder& contested) {
  const bool is_led_astray = !contested.SecretIsThere();
  contested.RestoreSecret();
  contested.RestoreLink();
  contested.Refill();
  return is_led_astray ? Met::kSecret : Met::kOwn;
}

Met RemoveByPath(const ContestedFolder& contested, Pace pace) {
  const std::string folder = contested.layer() + "/folder";
  if (!IsFolder(folder)) return Met::kNothing;
  if (pace == Pace::kAwaitMove) contested.AwaitMove();
  ::unlink((folder + "/file").c_str());
  return AfterRemoval(contested);
}

Met RemoveByRemover(const ContestedFolder& contested, Pace) {
  const os::Fd layer = contested.Open();
  const bool removed = storage::RemoveTree(layer.get(), "folder").has_value();
  const Met met = AfterRemoval(contested);
  return met == Met::kOwn && !removed ? Met::kNothing : met;
}

struct Contest {
  const char* name;
  bool is_control;
  Met (*use)(const ContestedFolder&, Pace);
};
constexpr Contest kContests[] = {
    {"read by path (control)", true, ReadByPath},     {"read by TreeReader", false, ReadByReader},
    {"stamp by TreeReader", false, StampByReader},    {"remove by path (control)", true, RemoveByPath},
    {"remove by RemoveTree", false, RemoveByRemover},
};

// A contest goes on past its rounds until it has met both sides of the name, or, as the control must, has been led
// astray.
bool HoldContest(const Contest& contest, long rounds) {
  const ContestedFolder contested;
  if (!contested.valid()) return false;
  long met[3] = {};
  const auto count = [&met](Met what) -> long& { return met[static_cast<std::size_t>(what)]; };
  const auto is_decided = [&] {
    if (count(Met::kSecret) > 0) return true;
    return !contest.is_control && count(Met::kOwn) > 0 && count(Met::kNothing) > 0;
  };
  long round = 0;
  for (; round < rounds || !is_decided(); ++round) {
    ++count(contest.use(contested, round < rounds ? Pace::kFast : Pace::kAwaitMove));
  }
  std::printf("%-26s %8ld rounds: %8ld own, %8ld refused, %8ld of the host\n", contest.name, round, count(Met::kOwn),
              count(Met::kNothing), count(Met::kSecret));
  return contest.is_control || count(Met::kSecret) == 0;
}

int Main(int count, char** arguments) {
  const bool is_long = count == 2 && std::string_view(arguments[1]) == "--long";
  if (count > 1 && !is_long) {
    std::fputs("usage: layer_race [--long]\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ::alarm(is_long ? kDeadlineSecondsLong : kDeadlineSeconds);
  int status = 0;
  for (const Contest& contest : kContests) {
    if (HoldContest(contest, is_long ? kRoundsLong : kRounds)) continue;
    std::printf("FAILED: %s was led to a file of the host, or could not begin\n", contest.name);
    status = 1;
  }
  return status;
}

}  // namespace
}  // namespace caisson::escape

int main(int argc, char** argv) { return caisson::escape::Main(argc, argv); }
