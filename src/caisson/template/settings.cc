#include "caisson/template/settings.h"

#include "caisson/base/utf8.h"

namespace caisson::templates {
namespace {

Error NotThere(const Lacking& lacking) {
  return Error(Code::kUnsupported, lacking.source + ": not there yet: " + lacking.what)
      .Because("leaving it out would make another sandbox than was asked for")
      .Remedy("leave it out, or choose what is there; `caisson template check` names all that is not");
}

std::string BelowFolder(const std::string& image, std::string_view folder) {
  if (image == "host" || image.starts_with('/') || folder.empty() || folder == ".") return image;
  return std::string(folder) + "/" + image;
}

}  // namespace

bool IsDirectoryOrHost(std::string_view image) {
  return image == "host" || image == "." || image == ".." || image.starts_with('/') || image.starts_with("./") ||
         image.starts_with("../");
}

Layer SettingsOf(const Template& given, std::string_view folder) {
  Layer layer;
  const auto add = [&](const char* name, const auto& maybe, const auto& text) {
    if (maybe) layer[name] = {text(maybe->value), maybe->source};
  };
  const auto same = [](const std::string& text) { return text; };
  add("image", given.image, [&](const std::string& image) { return BelowFolder(image, folder); });
  add("tier", given.tier, TierName);
  add("user", given.user, UserName);
  add("profile", given.profile, same);
  add("policy", given.policy, same);
  add("on-end", given.on_end, OnEndName);
  add("idle-timeout", given.idle_timeout, FormatDuration);
  add("max-lifetime", given.max_lifetime, FormatDuration);
  add("cpus", given.limits.cpus, FormatCpus);
  add("memory", given.limits.memory, FormatBytes);
  add("disk", given.limits.disk, FormatBytes);
  add("timeout", given.limits.timeout, FormatDuration);
  add("pids", given.limits.pids, [](std::uint32_t pids) { return std::to_string(pids); });
  return layer;
}

Layer SettingsOf(const Profile& profile) {
  const std::string source = "profile " + profile.name;
  return {{"policy", {profile.policy, source}}, {"network", {profile.network, source}}};
}

std::optional<Lacking> LackingTier(const Setting& tier) {
  if (tier.text == "auto" || tier.text == "process") return std::nullopt;
  return Lacking{"the tier " + Quoted(tier.text), tier.source, Lacking::Use::kRefused};
}

Status CheckUse(const std::vector<Lacking>& lacking, const Setting* tier) {
  if (tier != nullptr) {
    if (const auto lacks = LackingTier(*tier)) return Fail(NotThere(*lacks));
  }
  for (const Lacking& one : lacking) {
    if (one.use == Lacking::Use::kRefused) return Fail(NotThere(one));
  }
  return {};
}

}  // namespace caisson::templates
