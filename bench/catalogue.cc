#include "bench/catalogue.h"

#include <algorithm>
#include <utility>

#include "bench/program.h"
#include "bench/spawn_variant.h"

namespace caisson::bench {
namespace {

Result<std::unique_ptr<Variant>> MakeBubblewrap() {
  CAISSON_TRY(auto program, FindOnPath("bwrap"));
  return SpawnVariant::Make({std::move(program), "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc",
                             "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/bin/true"});
}

std::vector<SeriesName> MakeSeriesNames() {
  std::vector<SeriesName> names = {
      {kForkExec},
      {kFloor},
      {kBubblewrap},
      {kEngineCold},
      {kEngineColdReport},
      {kEngineColdDirectory},
      {kEngineColdBtrfs},
      {kRunCold},
      {kExecRunning},
      {kExecRunningReport},
      {kFloor, Group::kQuiet},
      {kBubblewrap, Group::kQuiet},
      {kEngineCold, Group::kQuiet},
  };
  for (const WorkSeries& series : AllWorkSeries()) names.push_back({series.name, series.group});
  return names;
}

const WorkSeries* FindWork(std::string_view name) {
  const auto& all = AllWorkSeries();
  const auto found = std::find_if(all.begin(), all.end(), [name](const WorkSeries& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<SeriesName>& AllSeries() {
  static const std::vector<SeriesName> kSeries = MakeSeriesNames();
  return kSeries;
}

std::string_view NoteOf(std::string_view variant) {
  if (variant == kForkExec) return "fork and execve from a small static program";
  if (variant == kFloor) return "seven namespaces, overlay on tmpfs, proc, pivot_root; no cgroup, no seccomp";
  if (variant == kBubblewrap) return "no overlay, no cgroup, no seccomp";
  if (variant == kEngineCold) return "create, true, destroy through the library; what it changed is not reported";
  if (variant == kEngineColdReport) return "the same with the report, which is what a caller gets by default";
  if (variant == kEngineColdDirectory) return "as engine_cold, with the writable layer in a folder";
  if (variant == kEngineColdBtrfs) return "as engine_cold, with the writable layer in the store";
  if (variant == kRunCold) return "the whole process `caisson run -- /bin/true`";
  if (variant == kExecRunning) return "true in a sandbox that stays; what it changed is not reported";
  if (variant == kExecRunningReport) return "the same with the report, which is what a caller gets by default";
  const WorkSeries* work = FindWork(variant);
  return work == nullptr ? std::string_view() : work->note;
}

Result<Variant*> Catalogue::Get(std::string_view name) {
  const auto made =
      std::find_if(variants_.begin(), variants_.end(), [name](const Made& entry) { return entry.name == name; });
  if (made != variants_.end()) return made->variant.get();
  CAISSON_TRY(auto variant, Make(name));
  variants_.push_back({name, std::move(variant)});
  return variants_.back().variant.get();
}

Result<std::unique_ptr<Variant>> Catalogue::Make(std::string_view name) {
  if (name == kBubblewrap) return MakeBubblewrap();
  if (name == kRunCold) return SpawnVariant::Make({program_directory_ + "/caisson", "run", "--", "/bin/true"});
  if (name == kForkExec || name == kFloor) {
    CAISSON_TRY(auto* program, References());
    const auto request = name == kFloor ? FloorRequest::kFloor : FloorRequest::kForkExec;
    return std::make_unique<ReferenceVariant>(*program, request);
  }
  if (const WorkSeries* work = FindWork(name)) return MakeWork(*work);
  CAISSON_TRY(auto* engine, Engine());
  EngineCase engine_case;
  if (name == kEngineColdDirectory) engine_case.storage = plan::Storage::kDirectory;
  if (name == kEngineColdBtrfs) engine_case.storage = plan::Storage::kBtrfs;
  if (name == kEngineColdReport || name == kExecRunningReport) engine_case.report = sandbox::ReportChanges::kYes;
  if (name == kExecRunning || name == kExecRunningReport) return ExecRunningVariant::Make(*engine, engine_case);
  return std::make_unique<EngineColdVariant>(*engine, engine_case);
}

Result<std::unique_ptr<Variant>> Catalogue::MakeWork(const WorkSeries& series) {
  CAISSON_TRY(Workplace* const place, PlaceOf(series));
  return WorkVariant::Make(series, *place);
}

// A report depends on what else was done in the sandbox, so each of those series has one of its own.
Result<Workplace*> Catalogue::PlaceOf(const WorkSeries& series) {
  if (series.timed == Timed::kCommand) {
    CAISSON_TRY(auto made, MakePlace(series));
    own_places_.push_back(std::move(made));
    return own_places_.back().get();
  }
  for (const MadePlace& one : shared_places_) {
    if (one.place == series.place && one.storage == series.storage) return one.made.get();
  }
  CAISSON_TRY(auto made, MakePlace(series));
  shared_places_.push_back({series.place, series.storage, std::move(made)});
  return shared_places_.back().made.get();
}

Result<std::unique_ptr<Workplace>> Catalogue::MakePlace(const WorkSeries& series) {
  CAISSON_TRY(auto* engine, Engine());  // makes the data folder, too
  if (series.place == Place::kSandbox) {
    return SandboxWorkplace::Make(*engine, program_directory_, series.storage, series.report);
  }
  if (series.storage == plan::Storage::kTmpfs) return NativeWorkplace::MakeInMemory(program_directory_);
  std::string folder = sandbox::EngineOptions{}.data_directory;
  if (series.storage == plan::Storage::kBtrfs) folder += "/store";  // mounted by the series inside, which comes first
  return NativeWorkplace::MakeOnDisk(program_directory_, folder);
}

Result<FloorProgram*> Catalogue::References() {
  if (!references_) references_ = FloorProgram::Start(program_directory_ + "/bench-floor");
  if (!*references_) return Fail(references_->error());
  return references_->value().get();
}

Result<sandbox::Sandboxes*> Catalogue::Engine() {
  if (!engine_) engine_ = StartEngine(program_directory_);
  if (!*engine_) return Fail(engine_->error());
  return engine_->value().get();
}

}  // namespace caisson::bench
