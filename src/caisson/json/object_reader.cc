#include "caisson/json/object_reader.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/json/strict_json.h"

namespace caisson::json {
namespace {

boost::json::string_view View(std::string_view text) { return {text.data(), text.size()}; }
std::string Copy(boost::json::string_view text) { return {text.data(), text.size()}; }

std::string EscapePointer(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::size_t kLongestName = 255;

std::string AtMost(std::size_t most) { return "must be a text of at most " + std::to_string(most) + " characters"; }

// As JSON Schema counts, so that what the interface's description promises is what is taken.
bool IsLonger(boost::json::string_view text, std::size_t most) {
  return text.size() > most && CountCharacters({text.data(), text.size()}) > most;
}

// What is wrong with a value as a text; empty: nothing.
std::string Complaint(const boost::json::value& value, std::size_t most) {
  const boost::json::string* text = value.if_string();
  if (text == nullptr) return "must be a text";
  if (IsLonger(*text, most)) return AtMost(most);
  if (text->find('\0') != boost::json::string::npos) return "must not hold a zero byte";
  return {};
}

// JSON Schema does not tell 2.0 from 2. Above 2^53 a number in this form may be another than was meant.
std::optional<std::uint64_t> WholeOf(double number) {
  constexpr double kMostExact = 9007199254740992.0;
  if (number < 0 || number > kMostExact || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

ObjectReader::ObjectReader(const boost::json::value& value)
    : object_(value.if_object()), mistake_(std::make_shared<std::optional<Error>>()) {
  if (object_ == nullptr) *mistake_ = Error(Code::kInvalidArgument, "the body must be a JSON object");
}

ObjectReader::ObjectReader(const boost::json::object* object, std::string pointer,
                           std::shared_ptr<std::optional<Error>> mistake)
    : object_(object), pointer_(std::move(pointer)), mistake_(std::move(mistake)) {}

const boost::json::value* ObjectReader::Find(std::string_view name) {
  known_.emplace_back(name);
  if (object_ == nullptr) return nullptr;
  const boost::json::value* value = object_->if_contains(View(name));
  if (value == nullptr || !value->is_null()) return value;
  Refuse(name, "must not be null; leave it out");
  return nullptr;
}

std::string ObjectReader::PointerOf(std::string_view name) const { return pointer_ + "/" + EscapePointer(name); }

void ObjectReader::RefuseAt(const std::string& pointer, std::string_view must) {
  if (*mistake_) return;
  *mistake_ = Error(Code::kInvalidArgument, "the field " + Quoted(pointer) + " " + std::string(must))
                  .Detail("pointer", pointer);
}

void ObjectReader::Refuse(std::string_view name, std::string_view must) { RefuseAt(PointerOf(name), must); }

std::optional<std::string> ObjectReader::Text(std::string_view name, std::size_t most) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  const std::string complaint = Complaint(*value, most);
  if (complaint.empty()) return Copy(value->get_string());
  Refuse(name, complaint);
  return std::nullopt;
}

std::optional<std::string> ObjectReader::AnyText(std::string_view name, std::size_t most) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string() && !IsLonger(value->get_string(), most)) return Copy(value->get_string());
  Refuse(name, AtMost(most));
  return std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::Count(std::string_view name, std::uint64_t low, std::uint64_t high) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> count;
  if (value->is_uint64()) count = value->get_uint64();
  if (value->is_int64() && value->get_int64() >= 0) count = static_cast<std::uint64_t>(value->get_int64());
  if (value->is_double()) count = WholeOf(value->get_double());
  if (count && *count >= low && *count <= high) return count;
  Refuse(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return std::nullopt;
}

std::optional<double> ObjectReader::Number(std::string_view name, double low, double high) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const double number = value->to_number<double>();
    if (number >= low && number <= high) return number;
  }
  const auto written = [](double number) { return boost::json::serialize(boost::json::value(number)); };
  Refuse(name, "must be a number from " + written(low) + " to " + written(high));
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> ObjectReader::Milliseconds(std::string_view name,
                                                                    std::chrono::milliseconds low,
                                                                    std::chrono::milliseconds high) {
  const auto count = Count(name, static_cast<std::uint64_t>(low.count()), static_cast<std::uint64_t>(high.count()));
  if (!count) return std::nullopt;
  return std::chrono::milliseconds(*count);
}

std::optional<bool> ObjectReader::Switch(std::string_view name) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  Refuse(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::size_t> ObjectReader::Choice(std::string_view name, const std::vector<std::string_view>& choices) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (value->is_string() && value->get_string() == View(choices[i])) return i;
  }
  std::string must = "must be one of";
  for (const std::string_view choice : choices) must += " \"" + std::string(choice) + "\"";
  Refuse(name, must);
  return std::nullopt;
}

std::vector<std::string> ObjectReader::Texts(std::string_view name, std::size_t most_entries, std::size_t most) {
  const boost::json::value* value = Find(name);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  const boost::json::array* array = value->if_array();
  if (array == nullptr || array->size() > most_entries) {
    Refuse(name, "must be an array of at most " + std::to_string(most_entries) + " texts");
    return texts;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string complaint = Complaint((*array)[i], most);
    if (!complaint.empty()) {
      RefuseAt(PointerOf(name) + "/" + std::to_string(i), complaint);
      return {};
    }
    texts.push_back(Copy((*array)[i].get_string()));
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> ObjectReader::Pairs(std::string_view name, std::size_t most_entries,
                                                                     std::size_t most) {
  const boost::json::value* value = Find(name);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (value == nullptr) return pairs;
  const boost::json::object* object = value->if_object();
  if (object == nullptr || object->size() > most_entries) {
    Refuse(name, "must be an object of at most " + std::to_string(most_entries) + " texts");
    return pairs;
  }
  for (const boost::json::key_value_pair& member : *object) {
    const std::string key = Copy(member.key());
    std::string complaint = Complaint(member.value(), most);
    if (key.empty() || CountCharacters(key) > kLongestName ||
        key.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      complaint = "must have a name of 1 to 255 characters without '=' and without a zero byte";
    }
    if (!complaint.empty()) {
      RefuseAt(PointerOf(name) + "/" + EscapePointer(key), complaint);
      return {};
    }
    pairs.emplace_back(key, Copy(member.value().get_string()));
  }
  return pairs;
}

std::optional<ObjectReader> ObjectReader::Object(std::string_view name) {
  const boost::json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) Refuse(name, "must be an object");
  return ObjectReader(value->if_object(), PointerOf(name), mistake_);
}

bool ObjectReader::Has(std::string_view name) const { return object_ != nullptr && object_->contains(name); }

bool ObjectReader::IsText(std::string_view name) const {
  const boost::json::value* value = object_ == nullptr ? nullptr : object_->if_contains(View(name));
  return value != nullptr && value->is_string();
}

Status ObjectReader::Finish() {
  if (object_ != nullptr && !*mistake_) {
    for (const boost::json::key_value_pair& member : *object_) {
      const std::string name = Copy(member.key());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      RefuseAt(PointerOf(name), "is not known");
      const std::optional<std::string> nearest = NearestName(name, known_);
      if (nearest) (void)std::move(**mistake_).Remedy("did you mean " + Quoted(*nearest) + "?");
      break;
    }
  }
  if (*mistake_) return Fail(**mistake_);
  return {};
}

Status ReadObject(std::string_view body, const std::function<void(ObjectReader&)>& read) {
  CAISSON_TRY(const boost::json::value value, ParseStrictJson(body));
  ObjectReader reader(value);
  read(reader);
  return reader.Finish();
}

}  // namespace caisson::json
