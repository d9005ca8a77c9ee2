#include <algorithm>
#include <array>
#include <charconv>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/document/mistake.h"
#include "caisson/document/moment.h"

namespace caisson::document {
namespace {

std::string Written(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), error == std::errc() ? end : text.data()};
}

}  // namespace

struct TableReader::Mistakes {
  std::string file;
  std::vector<std::pair<Place, Error>> found;

  void Add(const Place& place, Error error) {
    if (found.size() < kMostMistakes) found.emplace_back(place, std::move(error));
  }
  void Sort() {
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
};

TableReader::TableReader(const Value& table, std::string_view file)
    : TableReader(table, std::make_shared<Mistakes>(Mistakes{.file = std::string(file), .found = {}})) {}

TableReader::TableReader(const Value& value, std::shared_ptr<Mistakes> mistakes)
    : value_(&value), table_(std::get_if<Table>(&value.content())), mistakes_(std::move(mistakes)) {
  if (table_ == nullptr) {
    mistakes_->Add(value.place(), MistakeAt(mistakes_->file, value.place(), "this must be a table"));
    return;
  }
  for (const auto& [name, member] : *table_) by_name_.emplace(name, &member);
}

const Value* TableReader::Peek(std::string_view key) const {
  const auto found = by_name_.find(key);
  return found == by_name_.end() ? nullptr : found->second;
}

const Value* TableReader::Find(std::string_view key) {
  known_.emplace(key);
  return Peek(key);
}

void TableReader::RefuseAt(const Place& place, std::string_view key, std::string_view must) {
  mistakes_->Add(place, MistakeAt(mistakes_->file, place, Quoted(key) + " " + std::string(must)));
}

void TableReader::Refuse(std::string_view key, std::string_view must) {
  const Value* value = Peek(key);
  RefuseAt((value == nullptr ? value_ : value)->place(), key, must);
}

std::optional<std::string> TableReader::Text(std::string_view key) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value->content())) return *text;
  Refuse(key, "must be a text");
  return std::nullopt;
}

std::optional<bool> TableReader::Switch(std::string_view key) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (const bool* truth = std::get_if<bool>(&value->content())) return *truth;
  Refuse(key, "must be true or false");
  return std::nullopt;
}

std::optional<std::int64_t> TableReader::Whole(std::string_view key, std::int64_t low, std::int64_t high) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const auto* whole = std::get_if<std::int64_t>(&value->content());
  if (whole != nullptr && *whole >= low && *whole <= high) return *whole;
  const std::string least = std::to_string(low);
  Refuse(key,
         low == high ? "must be " + least : "must be a whole number from " + least + " to " + std::to_string(high));
  return std::nullopt;
}

std::optional<double> TableReader::Number(std::string_view key, double low, double high) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<double> number;
  if (const auto* whole = std::get_if<std::int64_t>(&value->content())) number = static_cast<double>(*whole);
  if (const auto* given = std::get_if<double>(&value->content())) number = *given;
  if (number && *number >= low && *number <= high) return number;  // also not a number fails this
  Refuse(key, "must be a number from " + Written(low) + " to " + Written(high));
  return std::nullopt;
}

std::optional<Time> TableReader::Moment(std::string_view key) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<Time> moment;
  if (const auto* given = std::get_if<Time>(&value->content())) moment = *given;
  if (const auto* text = std::get_if<std::string>(&value->content())) moment = ParseMoment(*text);
  if (!moment) Refuse(key, "must be a date and a time with an offset, such as 2027-01-01T00:00:00Z");
  return moment;
}

std::optional<std::size_t> TableReader::Choice(std::string_view key, const std::vector<std::string_view>& choices) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value->content());
  for (std::size_t i = 0; text != nullptr && i < choices.size(); ++i) {
    if (*text == choices[i]) return i;
  }
  std::string must = "must be one of";
  for (const std::string_view choice : choices) must += " \"" + std::string(choice) + "\"";
  if (text != nullptr) {
    const auto nearest = NearestName(*text, std::vector<std::string>(choices.begin(), choices.end()));
    if (nearest) must += "; did you mean \"" + *nearest + "\"?";
  }
  Refuse(key, must);
  return std::nullopt;
}

std::vector<std::string> TableReader::Texts(std::string_view key, One one) {
  const Value* value = Find(key);
  if (value == nullptr) return {};
  const auto* text = std::get_if<std::string>(&value->content());
  if (text != nullptr && one == One::kTaken) return {*text};
  const auto* array = std::get_if<Array>(&value->content());
  if (array == nullptr) {
    Refuse(key, one == One::kTaken ? "must be a text or an array of texts" : "must be an array of texts");
    return {};
  }
  std::vector<std::string> texts;
  for (const Value& element : *array) {
    const auto* entry = std::get_if<std::string>(&element.content());
    if (entry == nullptr) {
      RefuseAt(element.place(), key, "must hold texts only");
      return {};
    }
    texts.push_back(*entry);
  }
  return texts;
}

std::vector<TableReader> TableReader::Tables(std::string_view key) {
  const Value* value = Find(key);
  if (value == nullptr) return {};
  const auto* array = std::get_if<Array>(&value->content());
  if (array == nullptr) {
    Refuse(key, "must be an array of tables");
    return {};
  }
  std::vector<TableReader> readers;
  for (const Value& element : *array) {
    if (!std::holds_alternative<Table>(element.content())) {
      RefuseAt(element.place(), key, "must hold tables only");
      return {};
    }
    readers.push_back(TableReader(element, mistakes_));
  }
  return readers;
}

std::optional<TableReader> TableReader::SubTable(std::string_view key) {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (std::holds_alternative<Table>(value->content())) return TableReader(*value, mistakes_);
  Refuse(key, "must be a table");
  return std::nullopt;
}

const Value* TableReader::Any(std::string_view key) { return Find(key); }

std::vector<std::string> TableReader::RemainingKeys() const {
  std::vector<std::string> keys;
  if (table_ == nullptr) return keys;
  for (const auto& [name, value] : *table_) {
    if (!known_.contains(name)) keys.push_back(name);
  }
  return keys;
}

bool TableReader::Has(std::string_view key) const { return by_name_.contains(key); }

std::string TableReader::PlaceOf(std::string_view key) const {
  const Value* value = Peek(key);
  return Printable(mistakes_->file) + ":" + std::to_string((value == nullptr ? value_ : value)->place().line);
}

std::string TableReader::place() const {
  return Printable(mistakes_->file) + ":" + std::to_string(value_->place().line);
}

Status TableReader::Finish() {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const std::string& name : RemainingKeys()) {
    if (mistakes_->found.size() >= kMostMistakes) break;
    known_.insert(name);  // once is enough
    const std::optional<std::string> nearest = NearestName(name, known);
    RefuseAt(Peek(name)->key_place(), name,
             nearest ? "is not known; did you mean " + Quoted(*nearest) + "?" : "is not known");
  }
  mistakes_->Sort();
  if (mistakes_->found.empty()) return {};
  return Fail(mistakes_->found.front().second);
}

std::vector<Error> TableReader::AllMistakes() const {
  mistakes_->Sort();
  std::vector<Error> all;
  for (const auto& [place, error] : mistakes_->found) all.push_back(error);
  return all;
}

}  // namespace caisson::document
