// Configuration files as TOML and as JSON, read key by key.
// Input: a byte, odd for JSON; the text.

#include <set>

#include "caisson/base/utf8.h"
#include "caisson/document/document.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::document::Array;
using caisson::document::Table;
using caisson::document::TableReader;
using caisson::document::Value;
using caisson::fuzz::Require;

void RequireSafe(const std::string& text) {
  Require(caisson::IsUtf8(text), "a message is UTF-8");
  for (const char c : text) Require(static_cast<unsigned char>(c) >= ' ', "a message has no control byte");
}

void Walk(const Value& value, std::size_t depth) {
  Require(depth <= caisson::document::kMostDepth, "depth is bounded");
  Require(value.place().line > 0 && value.place().column > 0, "a value stands somewhere");
  if (const auto* text = std::get_if<std::string>(&value.content())) {
    Require(caisson::IsUtf8(*text) && text->find('\0') == std::string::npos, "a text is UTF-8 without a zero byte");
  }
  if (const auto* array = std::get_if<Array>(&value.content())) {
    for (const Value& element : *array) Walk(element, depth + 1);
  }
  const auto* table = std::get_if<Table>(&value.content());
  if (table == nullptr) return;
  std::set<std::string> names;
  for (const auto& [name, member] : *table) {
    Require(names.insert(name).second, "no name is twice in a table");
    Walk(member, depth + 1);
  }
}

void ReadKeys(TableReader& reader) {
  for (const std::string& key : reader.RemainingKeys()) {
    (void)reader.Number(key, -1, 1);
    (void)reader.Moment(key);
    (void)reader.Choice(key, {"allow", "deny"});
    (void)reader.Texts(key, TableReader::One::kTaken);
    for (TableReader& inner : reader.Tables(key)) ReadKeys(inner);
    if (auto inner = reader.SubTable(key)) ReadKeys(*inner);
    RequireSafe(reader.PlaceOf(key));
  }
  (void)reader.Finish();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  using caisson::document::Format;
  const Format format = input.Take<std::uint8_t>() % 2 == 0 ? Format::kToml : Format::kJson;
  const auto value = caisson::document::Read(input.TakeRest(), format, "f");
  if (!value) {
    RequireSafe(value.error().message());
    return 0;
  }
  Walk(*value, std::holds_alternative<Table>(value->content()) ? 0 : caisson::document::kMostDepth + 1);
  TableReader reader(*value, "f");
  ReadKeys(reader);
  for (const caisson::Error& mistake : reader.AllMistakes()) RequireSafe(mistake.message());
  return 0;
}
