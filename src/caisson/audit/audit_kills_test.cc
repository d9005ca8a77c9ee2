#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <string_view>
#include <thread>

#include "caisson/audit/audit_fixture.h"
#include "caisson/audit/verify_files.h"

namespace caisson::audit {
namespace {

class AuditKillsTest : public AuditFixture {
 protected:
  // Appends records whose tools are rising numbers from `first` and reports each number once it is appended.
  [[noreturn]] void AppendForever(std::uint64_t first, int report) const {
    auto file = AuditFile::Open(data_, id_, record::Time(), {.rotate_at = KiB(256), .keep = 1000});
    if (!file) _exit(1);
    for (std::uint64_t number = first;; ++number) {
      record::Entry entry = Step(std::to_string(number));
      entry.args = "[\"" + std::string(number % 2000, 'x') + "\"]";
      if (!(*file)->Append(entry, record::Redactor())) _exit(1);
      if (write(report, &number, sizeof number) != sizeof number) _exit(1);
    }
  }
  // The numbers that a child reported before it was killed.
  std::vector<std::uint64_t> KillOne(std::uint64_t first, std::chrono::microseconds after) const {
    int ends[2] = {};
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const os::Fd read_end(ends[0]);
    os::Fd write_end(ends[1]);
    const pid_t child = fork();
    if (child == 0) AppendForever(first, write_end.get());
    write_end.Reset();
    std::vector<std::uint64_t> reported;
    const auto deadline = std::chrono::steady_clock::now() + after;
    std::uint64_t number = 0;
    bool is_killed = false;
    while (read(read_end.get(), &number, sizeof number) == sizeof number) {
      reported.push_back(number);
      if (!is_killed && std::chrono::steady_clock::now() >= deadline) {
        kill(child, SIGKILL);
        is_killed = true;
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    return reported;
  }
};

TEST_F(AuditKillsTest, WhatWasReportedIsInTheRecordAfterAnyKill) {
  constexpr std::size_t kRecords = 10000;
  constexpr int kFewestKills = 60;
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same moments in each run
  std::set<std::uint64_t> reported;
  std::uint64_t next = 1;
  int kills = 0;
  for (; kills < kFewestKills || reported.size() < kRecords; ++kills) {
    const auto numbers = KillOne(next, std::chrono::microseconds(random() % 20000));
    ASSERT_FALSE(numbers.empty()) << "kill " << kills;
    reported.insert(numbers.begin(), numbers.end());
    next = numbers.back() + 2;  // one may be appended and not reported
  }
  const auto file = Open({.rotate_at = KiB(256), .keep = 1000});
  const auto verified = VerifyFiles(data_, id_, {}, {});
  ASSERT_TRUE(verified);
  EXPECT_FALSE(verified->wrong) << verified->wrong->file << ":" << verified->wrong->line << " " << verified->wrong->why;
  std::set<std::uint64_t> recorded;
  const auto collect = [&recorded](const std::vector<std::string>& lines) {
    constexpr std::string_view kTool = "\"tool\":\"";
    for (const std::string& line : lines) {
      const std::size_t tool = line.find(kTool);
      if (tool != std::string::npos) recorded.insert(std::strtoull(line.c_str() + tool + kTool.size(), nullptr, 10));
    }
  };
  collect(Lines());
  for (std::uint64_t i = 1; i < verified->files; ++i) collect(Lines(std::to_string(i)));
  for (const std::uint64_t number : reported) EXPECT_TRUE(recorded.contains(number)) << number;
  EXPECT_GE(verified->records, reported.size());
}

}  // namespace
}  // namespace caisson::audit
