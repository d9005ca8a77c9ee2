#include "caisson/rest/request.h"

#include <algorithm>

#include "caisson/rest/field_text.h"

namespace caisson::rest {

bool Accepts(const std::optional<std::string>& field, std::string_view type) {
  if (!field) return true;
  const std::string family = std::string(type.substr(0, type.find('/'))) + "/*";
  std::string_view rest = *field;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::string_view range = Trimmed(entry.substr(0, entry.find(';')));
    if (EqualText(range, type) || EqualText(range, family) || range == "*/*") return true;
  }
  return false;
}

}  // namespace caisson::rest
