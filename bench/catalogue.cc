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

}  // namespace

const std::vector<SeriesName>& AllSeries() {
  static const std::vector<SeriesName> kSeries = {
      {kForkExec},    {kFloor},       {kBubblewrap},       {kEngineCold},       {kRunCold},
      {kExecRunning}, {kFloor, true}, {kBubblewrap, true}, {kEngineCold, true},
  };
  return kSeries;
}

std::string_view NoteOf(std::string_view variant) {
  if (variant == kForkExec) return "fork and execve from a small static program";
  if (variant == kFloor) return "seven namespaces, overlay on tmpfs, proc, pivot_root; no cgroup, no seccomp";
  if (variant == kBubblewrap) return "no overlay, no cgroup, no seccomp";
  if (variant == kEngineCold) return "create, true, destroy through the library";
  if (variant == kRunCold) return "the whole process `caisson run -- /bin/true`";
  return "true in a sandbox that stays";
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
  CAISSON_TRY(auto* engine, Engine());
  if (name == kExecRunning) return ExecRunningVariant::Make(*engine);
  return std::make_unique<EngineColdVariant>(*engine);
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
