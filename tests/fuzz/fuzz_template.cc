// A template, caisson.toml. Input: its text.

#include "caisson/base/utf8.h"
#include "caisson/template/profile.h"
#include "caisson/template/read.h"
#include "caisson/template/settings.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;

void RequireSafe(const std::string& text) {
  Require(caisson::IsUtf8(text), "a message is UTF-8");
  for (const char c : text) Require(static_cast<unsigned char>(c) >= ' ', "a message has no control byte");
}

// What a template says, an option would take.
void RequireAccepted(const caisson::templates::Layer& settings) {
  for (const auto& [name, setting] : settings) {
    if (name == "memory" || name == "disk") Require(caisson::ParseBytes(setting.text, name).has_value(), "a size");
    if (name == "cpus") Require(caisson::ParseCpus(setting.text, name).has_value(), "a number of cores");
    if (name == "timeout" || name == "idle-timeout" || name == "max-lifetime") {
      Require(caisson::ParseDuration(setting.text, name).has_value(), "a duration");
    }
  }
}

void Use(const caisson::templates::Template& content) {
  const caisson::templates::Layer settings = caisson::templates::SettingsOf(content, "folder");
  RequireAccepted(settings);
  (void)caisson::templates::CheckUse(content.NotYet(), nullptr);
  for (const auto& [name, value] : content.env) {
    Require(!name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos,
            "a variable has a name");
  }
  if (content.policy && !caisson::templates::IsPolicyPreset(content.policy->value)) {
    Require(!content.policy->value.starts_with('/'), "a policy lies below the template's folder");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = caisson::fuzz::Input(data, size).TakeRest();
  const auto reading = caisson::templates::ReadWithMistakes(text, "caisson.toml");
  Require(reading.content.has_value() == reading.mistakes.empty(), "there is a template or a mistake");
  for (const caisson::Error& mistake : reading.mistakes) RequireSafe(mistake.message());
  if (reading.content) Use(*reading.content);
  return 0;
}
