#pragma once

#include <string>
#include <string_view>

#include "caisson/document/document.h"

namespace caisson::document {

// What the tests of both formats look at.

inline const Table& TableOf(const Value& value) { return std::get<Table>(value.content()); }
inline const Array& ArrayOf(const Value& value) { return std::get<Array>(value.content()); }

inline std::string MessageOf(const Result<Value>& value) { return value ? "accepted" : value.error().message(); }

inline std::string Repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace caisson::document
