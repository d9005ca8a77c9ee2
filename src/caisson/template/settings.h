#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/template/precedence.h"
#include "caisson/template/profile.h"
#include "caisson/template/template.h"

namespace caisson::templates {

// What a template says that options say too. A relative directory of an image becomes one below `folder`, the
// template's; "." is written as it is.
Layer SettingsOf(const Template& given, std::string_view folder);
// The same of a profile.
Layer SettingsOf(const Profile& profile);

// "host", or a path: what begins with '/', "./" or "../", or is "." or "..". Anything else names an image elsewhere.
bool IsDirectoryOrHost(std::string_view image);

// A tier that is not there.
std::optional<Lacking> LackingTier(const Setting& tier);

// Refuses what must not be left out silently: a tier that is not there, and what is `kRefused` of `lacking`. `tier`:
// the one that counts, or nullptr. Errors: kUnsupported, with the source in
// front.
Status CheckUse(const std::vector<Lacking>& lacking, const Setting* tier);

}  // namespace caisson::templates
