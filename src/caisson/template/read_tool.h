#pragma once

#include <vector>

#include "caisson/document/document.h"
#include "caisson/template/template.h"

namespace caisson::templates {

// The tables [[tool]] of the whole. Mistakes stay in the reader.
std::vector<Tool> ReadTools(document::TableReader& whole);

// Whether a name is of lower-case letters, digits and '_', begins with a letter and has at most 64 of them.
bool IsToolName(std::string_view name);

}  // namespace caisson::templates
