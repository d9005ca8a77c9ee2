#include "bench/work_series.h"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "caisson/base/units.h"

namespace caisson::bench {
namespace {

// The report of a command may take a tenth of what the command takes.
constexpr double kReportLimit = 1.10;
// 95 % of the throughput outside.
constexpr double kThroughputLimit = 1 / 0.95;

constexpr std::chrono::milliseconds kCommandLasts{10};
constexpr std::uint64_t kFew = 10;
constexpr std::uint64_t kMany = 10'000;
constexpr std::uint64_t kSmallFiles = 2'000;
constexpr Bytes kFileSize = MiB(256);

constexpr std::array<std::pair<plan::Storage, std::string_view>, 3> kStorages = {{
    {plan::Storage::kTmpfs, "tmpfs"},
    {plan::Storage::kBtrfs, "btrfs"},
    {plan::Storage::kDirectory, "directory"},
}};

struct ChangeCase {
  std::string_view name;
  std::string_view note;
  Group group;
  std::uint64_t files;
  std::uint64_t changed_before;
  bool from_nothing;  // the files of the last sample are removed before the next
};

constexpr std::array<ChangeCase, 4> kChangeCases = {{
    {"change_10", "a command of 10 ms overwrites 10 files", Group::kReport, kFew, 0, false},
    {"change_10_after_10000", "the same, when an earlier command has made 10,000 others", Group::kReport, kFew, kMany,
     false},
    {"change_10000", "a command overwrites 10,000 files", Group::kLong, kMany, 0, false},
    {"create_10000", "a command makes 10,000 files", Group::kLong, kMany, 0, true},
}};

struct FileCase {
  std::string_view name;
  std::string_view note;
  Work work;
  std::optional<Work> before;
  std::optional<double> limit;
};

const std::vector<FileCase>& FileCases() {
  const Work write_1m{.kind = WorkKind::kWrite, .bytes = kFileSize.value, .block_bytes = MiB(1).value};
  const Work write_4k{.kind = WorkKind::kWrite, .bytes = kFileSize.value, .block_bytes = KiB(4).value};
  const Work read_1m{.kind = WorkKind::kRead, .bytes = kFileSize.value, .block_bytes = MiB(1).value};
  const Work read_4k{.kind = WorkKind::kRead, .bytes = kFileSize.value, .block_bytes = KiB(4).value};
  const Work create{.kind = WorkKind::kChange, .files = kSmallFiles};
  const Work remove{.kind = WorkKind::kRemove, .files = kSmallFiles};
  static const std::vector<FileCase> kCases = {
      {"write_1m", "256 MiB in blocks of 1 MiB to a new file, no fsync", write_1m, {}, kThroughputLimit},
      {"write_4k", "the same in blocks of 4 KiB", write_4k, {}, kThroughputLimit},
      {"read_1m", "256 MiB in blocks of 1 MiB from the page cache", read_1m, {}, kThroughputLimit},
      {"read_4k", "the same in blocks of 4 KiB", read_4k, {}, kThroughputLimit},
      {"create_2000", "makes 2,000 small files; no promise: an overlay makes more of each", create, remove, {}},
  };
  return kCases;
}

std::string Join(std::string_view a, std::string_view b) { return std::string(a) + "_" + std::string(b); }

std::string ChangeName(const ChangeCase& one, std::string_view storage, Report report) {
  return Join(one.name, storage) + (report == Report::kOn ? "_report" : "");
}

std::string FileName(const FileCase& one, std::string_view storage, Place place) {
  return Join(one.name, storage) + (place == Place::kNative ? "_native" : "");
}

WorkSeries MakeChange(const ChangeCase& one, std::pair<plan::Storage, std::string_view> storage, Report report) {
  WorkSeries series{
      .name = ChangeName(one, storage.second, report),
      .note = std::string(one.note) + (report == Report::kOn ? ", and the caller is told which" : ", not reported"),
      .group = one.group,
      .place = Place::kSandbox,
      .storage = storage.first,
      .report = report,
      .timed = Timed::kCommand,
      .changed_before = one.changed_before,
      .before = {},
      .work = {.kind = WorkKind::kChange, .files = one.files, .lasts = kCommandLasts}};
  if (one.from_nothing) series.before = Work{.kind = WorkKind::kRemove, .files = one.files};
  return series;
}

WorkSeries MakeFile(const FileCase& one, std::pair<plan::Storage, std::string_view> storage, Place place) {
  return {
      .name = FileName(one, storage.second, place),
      .note = std::string(one.note) + (place == Place::kNative ? ", outside" : ", in a sandbox") + "; processor time",
      .group = Group::kLong,
      .place = place,
      .storage = storage.first,
      .report = Report::kOff,
      .timed = Timed::kWork,
      .changed_before = 0,
      .before = one.before,
      .work = one.work};
}

std::vector<WorkSeries> MakeAll() {
  std::vector<WorkSeries> all;
  for (const auto& storage : kStorages) {
    for (const ChangeCase& one : kChangeCases) {
      for (const Report report : {Report::kOff, Report::kOn}) all.push_back(MakeChange(one, storage, report));
    }
  }
  for (const auto& storage : kStorages) {
    for (const FileCase& one : FileCases()) {
      for (const Place place : {Place::kSandbox, Place::kNative}) all.push_back(MakeFile(one, storage, place));
    }
  }
  return all;
}

std::vector<Promise> MakePromises() {
  std::vector<Promise> all;
  for (const auto& [storage, name] : kStorages) {
    for (const ChangeCase& one : kChangeCases) {
      all.push_back({Join(one.name, name) + ": reported / not", ChangeName(one, name, Report::kOn),
                     ChangeName(one, name, Report::kOff), kReportLimit, Rule::kPairs});
    }
    for (const FileCase& one : FileCases()) {
      all.push_back({Join(one.name, name) + ": inside / outside", FileName(one, name, Place::kSandbox),
                     FileName(one, name, Place::kNative), one.limit, Rule::kPairs});
    }
  }
  return all;
}

}  // namespace

const std::vector<WorkSeries>& AllWorkSeries() {
  static const std::vector<WorkSeries> kAll = MakeAll();
  return kAll;
}

const std::vector<Promise>& WorkPromises() {
  static const std::vector<Promise> kAll = MakePromises();
  return kAll;
}

}  // namespace caisson::bench
