#include <array>

#include "caisson/base/utf8.h"
#include "caisson/plan/limits.h"
#include "caisson/template/profile.h"
#include "caisson/template/settings.h"
#include "caisson/template/template.h"

namespace caisson::templates {
namespace {

using Use = Lacking::Use;

struct TierInfo {
  Tier tier;
  const char* name;
};

constexpr std::array<TierInfo, 6> kTiers = {{{Tier::kAuto, "auto"},
                                             {Tier::kProcess, "process"},
                                             {Tier::kContainer, "container"},
                                             {Tier::kGvisor, "gvisor"},
                                             {Tier::kMicrovm, "microvm"},
                                             {Tier::kWasm, "wasm"}}};

void AddWhatTheImageLacks(const Template& given, std::vector<Lacking>& lacking) {
  if (given.image && !IsDirectoryOrHost(given.image->value)) {
    lacking.push_back(
        {"the image " + Quoted(given.image->value) + ": an image is host, or a directory written with a slash",
         given.image->source, Use::kRefused});
  }
  if (given.workspace && given.workspace->value != plan::kAgentWorkspace) {
    lacking.push_back(
        {"a workspace at another place than /home/agent/workspace", given.workspace->source, Use::kRefused});
  }
  if (given.packages && !(given.packages->value.apt.empty() && given.packages->value.pip.empty())) {
    lacking.push_back({"packages that are installed into the image", given.packages->source, Use::kRefused});
  }
}

}  // namespace

std::string TierName(Tier tier) {
  for (const TierInfo& info : kTiers) {
    if (info.tier == tier) return info.name;
  }
  return "auto";
}

std::string OnEndName(OnEnd on_end) {
  return on_end == OnEnd::kKeep ? "keep" : on_end == OnEnd::kSnapshot ? "snapshot" : "delete";
}

std::string UserName(User user) { return user == User::kRoot ? "root" : "agent"; }

std::vector<Lacking> Template::NotYet() const {
  std::vector<Lacking> lacking;
  AddWhatTheImageLacks(*this, lacking);
  if (toolset) lacking.push_back({"the choice of an agent's tools", toolset->source, Use::kNotice});
  if (on_end && on_end->value == OnEnd::kSnapshot) {
    lacking.push_back({"a snapshot of a sandbox that ends", on_end->source, Use::kRefused});
  }
  if (audit && audit->value == Audit::kRequired) {
    lacking.push_back({"an audit that a sandbox does not run without", audit->source, Use::kRefused});
  }
  if (limits.inodes && limits.inodes->value != 0) {
    lacking.push_back({"a limit on the number of files", limits.inodes->source, Use::kRefused});
  }
  if (limits.output && limits.output->value != MiB(1)) {
    lacking.push_back({"another limit of kept output than 1MiB", limits.output->source, Use::kNotice});
  }
  if (budget) lacking.push_back({"the budget of a task", budget->source, Use::kNotice});
  if (monitor) lacking.push_back({"the monitor", monitor->source, Use::kNotice});
  if (checkpoint) lacking.push_back({"checkpoints", checkpoint->source, Use::kNotice});
  if (secrets) lacking.push_back({"secrets", secrets->source, Use::kRefused});
  for (const Tool& tool : tools) {
    lacking.push_back({"a project's own tool, " + Quoted(tool.name), tool.source, Use::kNotice});
  }
  return lacking;
}

std::vector<Lacking> Profile::NotYet() const {
  const std::string source = "profile " + name;
  std::vector<Lacking> lacking;
  if (tier_floor != Tier::kProcess) {
    lacking.push_back(
        {"the tier " + TierName(tier_floor) + ", the weakest that this profile takes", source, Use::kRefused});
  }
  if (audit == Audit::kRequired) {
    lacking.push_back({"an audit that a sandbox does not run without", source, Use::kRefused});
  }
  if (name == "team" || name == "production") {
    lacking.push_back({"a list of hosts that may be reached: there is no network", source, Use::kNotice});
  }
  if (name == "team") lacking.push_back({"templates and pools that a team shares", source, Use::kNotice});
  return lacking;
}

}  // namespace caisson::templates
