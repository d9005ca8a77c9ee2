#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/engine_variants.h"
#include "bench/group.h"
#include "bench/reference_variants.h"
#include "bench/variant.h"
#include "bench/work_series.h"
#include "bench/work_variants.h"
#include "caisson/base/result.h"

namespace caisson::bench {

// The names of the variants, as in options, tables and JSON.
inline constexpr std::string_view kForkExec = "fork_exec";
inline constexpr std::string_view kFloor = "floor";
inline constexpr std::string_view kBubblewrap = "bubblewrap";
inline constexpr std::string_view kEngineCold = "engine_cold";
inline constexpr std::string_view kEngineColdReport = "engine_cold_report";
inline constexpr std::string_view kEngineColdDirectory = "engine_cold_directory";
inline constexpr std::string_view kEngineColdBtrfs = "engine_cold_btrfs";
inline constexpr std::string_view kRunCold = "run_cold";
inline constexpr std::string_view kExecRunning = "exec_running";
inline constexpr std::string_view kExecRunningReport = "exec_running_report";
// Appended to the name of a variant measured after a quiet second.
inline constexpr std::string_view kQuietSuffix = "_quiet";

// One line of the plan: a series has a name of its own, the quiet one of a variant another than the tight one.
struct SeriesName {
  std::string_view variant;
  Group group = Group::kTight;

  std::string Text() const { return std::string(variant) + std::string(group == Group::kQuiet ? kQuietSuffix : ""); }
};

// Every series, in the order of the table.
const std::vector<SeriesName>& AllSeries();

// What a reader of the numbers must know about a variant.
std::string_view NoteOf(std::string_view variant);

// Makes variants and owns what they share. Not thread-safe.
class Catalogue {
 public:
  explicit Catalogue(std::string program_directory) : program_directory_(std::move(program_directory)) {}

  // The variant of that name, made at its first use; owned by the catalogue. Errors: why it cannot run here.
  Result<Variant*> Get(std::string_view name);

 private:
  struct Made {
    std::string_view name;
    std::unique_ptr<Variant> variant;
  };
  Result<std::unique_ptr<Variant>> Make(std::string_view name);
  Result<FloorProgram*> References();
  Result<sandbox::Sandboxes*> Engine();
  Result<std::unique_ptr<Variant>> MakeWork(const WorkSeries& series);
  Result<Workplace*> PlaceOf(const WorkSeries& series);
  Result<std::unique_ptr<Workplace>> MakePlace(const WorkSeries& series);

  std::string program_directory_;
  std::optional<Result<std::unique_ptr<FloorProgram>>> references_;
  std::optional<Result<std::unique_ptr<sandbox::Sandboxes>>> engine_;
  struct MadePlace {
    Place place;
    plan::Storage storage;
    std::unique_ptr<Workplace> made;
  };
  std::vector<MadePlace> shared_places_;
  std::vector<std::unique_ptr<Workplace>> own_places_;
  std::vector<Made> variants_;  // after what they borrow, so that they go first
};

}  // namespace caisson::bench
