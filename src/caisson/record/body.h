#pragma once

#include <string>

#include "caisson/record/entry.h"
#include "caisson/record/redactor.h"

namespace caisson::record {

// "step", "gap"; "cli", "rest".
const char* KindName(Kind kind);
const char* FaceName(Face face);

// The members of a record that do not depend on its place in the chain, each with a comma before it: `tenant` to
// `checkpoint`, `detail`, and which of them were cut (`truncated`), had a secret taken out (`redacted`) or were not
// UTF-8 (`replaced`). Secrets are taken out before anything is cut. Valid JSON and UTF-8 on one line, within the bounds
// of limits.h, whatever the entry holds. The digest of a stream in which a secret was found is left out, since a short
// secret could be guessed from it.
std::string BodyOf(const Entry& entry, const Redactor& redactor);

}  // namespace caisson::record
