#include "caisson/service/sandbox_policy.h"

#include "caisson/base/utf8.h"
#include "caisson/guard/gate.h"
#include "caisson/policy/compile.h"
#include "caisson/policy/zone.h"

namespace caisson::service {
namespace {

constexpr const char* kToml = "toml";
constexpr const char* kJson = "json";
constexpr const char* kPreset = "preset";
constexpr std::size_t kLongestName = 255;

Status CheckName(const std::string& name) {
  if (!name.empty() && name.size() <= kLongestName && IsUtf8(name) && Printable(name) == name) return {};
  return Fail(Error(Code::kInvalidArgument, "the name of the policy is not one")
                  .Because("decisions show it: 1 to 255 characters that can be printed")
                  .Remedy("name it after its file, for example policy.toml"));
}

Result<policy::Policy> Read(const std::optional<PolicyRequest>& request) {
  if (!request) return policy::Policy::Preset(kPolicyOfAgents);
  if (request->preset) return policy::Policy::Preset(*request->preset);
  CAISSON_CHECK_OK(CheckName(request->name));
  return policy::Policy::Read(request->text, request->format, request->name, policy::SystemZones());
}

state::PolicyRecord RecordOf(const policy::Policy& policy, const char* format) {
  return {.name = {.name = policy.name(), .digest = policy.digest()}, .format = format, .text = policy.text()};
}

}  // namespace

Result<CheckedPolicy> CheckPolicy(const std::optional<PolicyRequest>& request) {
  CAISSON_TRY(policy::Policy policy, Read(request));
  CAISSON_CHECK_OK(policy::CheckEnforceable(policy, guard::KernelFeaturesHere()));
  const bool is_preset = !request || request->preset;
  const char* const format = policy.format() == document::Format::kJson ? kJson : kToml;
  state::PolicyRecord record = RecordOf(policy, is_preset ? kPreset : format);
  return CheckedPolicy{.policy = std::move(policy), .record = std::move(record)};
}

Result<state::PolicyRecord> DefaultPolicy() {
  CAISSON_TRY(const policy::Policy policy, policy::Policy::Preset(kPolicyOfAgents));
  return RecordOf(policy, kPreset);
}

Result<policy::Policy> PolicyOf(const state::PolicyRecord& record) {
  const document::Format format = record.format == kJson ? document::Format::kJson : document::Format::kToml;
  if (record.format != kPreset) {
    return policy::Policy::Read(record.text, format, record.name.name, policy::SystemZones());
  }
  auto preset = policy::Policy::Preset(record.name.name);
  if (preset && preset->digest() == record.name.digest) return preset;
  return policy::Policy::Read(record.text, format, "preset " + record.name.name, policy::SystemZones());
}

PolicyInfo InfoOf(const state::PolicyRecord& record) {
  return {.name = record.name.name,
          .digest = record.name.digest,
          .origin = record.format == kPreset ? PolicyInfo::Origin::kPreset : PolicyInfo::Origin::kText,
          .format = record.format == kJson ? document::Format::kJson : document::Format::kToml,
          .text = record.text};
}

Status CheckExecution(plan::Execution made, const policy::Policy& policy) {
  if (made == plan::Execution::kProgramFolders || guard::ExecutionFor(policy) == plan::Execution::kAnywhere) return {};
  return Fail(
      Error(Code::kConflict, "the sandbox cannot be held to the policy " + Quoted(policy.name()))
          .Because("the policy lets named programs of the image run and no other, and this sandbox was made so that "
                   "files in writable places can be executed")
          .Remedy("make another sandbox with this policy, or add a rule that allows \"./**\" to it"));
}

}  // namespace caisson::service
