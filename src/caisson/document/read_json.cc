#include <algorithm>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <exception>
#include <unordered_set>

#include "caisson/base/utf8.h"
#include "caisson/document/mistake.h"
#include "caisson/document/read_format.h"

namespace caisson::document {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Makes values of what basic_parser finds; the functions and their signatures are those that it calls.
struct Builder {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  // An object or array under way.
  struct Frame {
    Place place;
    Place key_place;
    std::variant<Table, Array> content;
    std::string key;  // of the next member
    Place next_key_place;
    std::unordered_set<std::string> names;
  };

  Place here;  // of the token that is being read; a number is known for one when the next token is read
  std::vector<Frame> frames;
  std::optional<Value> whole;
  std::size_t values = 0;
  std::string text;  // what came of it
  std::string complaint;
  Place complaint_place;

  bool Refuse(std::string why, error_code& ec) {
    complaint = std::move(why);
    complaint_place = here;
    ec = boost::json::error::syntax;
    return false;
  }

  Place KeyPlace() const {
    return frames.empty() || std::holds_alternative<Array>(frames.back().content) ? here : frames.back().next_key_place;
  }

  bool Add(Value value, error_code& ec) {
    if (++values > kMostValues) return Refuse("there are more than 1000000 values", ec);
    if (frames.empty()) {
      whole = std::move(value);
      return true;
    }
    Frame& frame = frames.back();
    if (Array* array = std::get_if<Array>(&frame.content)) {
      array->push_back(std::move(value));
    } else {
      std::get<Table>(frame.content).emplace_back(std::move(frame.key), std::move(value));
      frame.key.clear();
    }
    return true;
  }

  bool AddScalar(Value::Content content, error_code& ec) {
    return Add(Value(std::move(content), here, KeyPlace()), ec);
  }

  template <typename Content>
  bool Begin() {
    frames.push_back(
        {.place = here, .key_place = KeyPlace(), .content = Content(), .key = {}, .next_key_place = {}, .names = {}});
    return true;
  }

  bool End(error_code& ec) {
    Frame frame = std::move(frames.back());
    frames.pop_back();
    Value::Content content = std::visit([](auto& made) { return Value::Content(std::move(made)); }, frame.content);
    return Add(Value(std::move(content), frame.place, frame.key_place), ec);
  }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return Begin<Table>(); }
  bool on_object_end(std::size_t, error_code& ec) { return End(ec); }
  bool on_array_begin(error_code&) { return Begin<Array>(); }
  bool on_array_end(std::size_t, error_code& ec) { return End(ec); }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    text.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& ec) {
    text.append(part.data(), part.size());
    if (text.find('\0') != std::string::npos) return Refuse("there is a zero byte", ec);
    Frame& frame = frames.back();
    if (!frame.names.insert(text).second) return Refuse("the name " + Quoted(text) + " is twice in one object", ec);
    frame.key = std::move(text);
    frame.next_key_place = here;
    text.clear();
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    text.append(part.data(), part.size());
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code& ec) {
    text.append(part.data(), part.size());
    if (text.find('\0') != std::string::npos) return Refuse("there is a zero byte", ec);
    std::string taken = std::move(text);
    text.clear();
    return AddScalar(std::move(taken), ec);
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, string_view, error_code& ec) { return AddScalar(number, ec); }
  bool on_uint64(std::uint64_t, string_view, error_code& ec) { return Refuse("a number is too large", ec); }
  bool on_double(double number, string_view, error_code& ec) {
    return std::isfinite(number) ? AddScalar(number, ec) : Refuse("a number is too large", ec);
  }
  bool on_bool(bool truth, error_code& ec) { return AddScalar(truth, ec); }
  bool on_null(error_code& ec) { return Refuse("null says nothing; leave the name out", ec); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kPunctuation = "{}[],:";

// The length of the token at the beginning of a text that is not empty: space, a string, punctuation, or a word.
std::size_t TokenLength(std::string_view text) {
  const char first = text.front();
  if (kPunctuation.find(first) != std::string_view::npos) return 1;
  if (kSpace.find(first) != std::string_view::npos) {
    return std::min(text.find_first_not_of(kSpace), text.size());
  }
  if (first != '"') return std::min(text.find_first_of(" \t\r\n{}[],:\"", 1), text.size());
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

bool BeginsValue(char c) {
  return kSpace.find(c) == std::string_view::npos &&
         (kPunctuation.find(c) == std::string_view::npos || c == '{' || c == '[');
}

// Gives the text to the parser token by token, so that the builder knows where each value stands.
class JsonReading {
 public:
  JsonReading(std::string_view text, std::string_view name) : text_(text), name_(name), parser_(Options()) {}

  Result<Value> Run() {
    while (at_ < text_.size()) {
      const std::string_view token = text_.substr(at_, TokenLength(text_.substr(at_)));
      CAISSON_CHECK_OK(Feed(token));
      Pass(token);
    }
    error_code ec;
    parser_.write_some(false, text_.data() + text_.size(), 0, ec);
    if (ec) return Fail(Explain(ec));
    std::optional<Value>& whole = parser_.handler().whole;
    if (!whole || !std::holds_alternative<Table>(whole->content())) {
      return Fail(MistakeAt(name_, whole ? whole->place() : here_, "the whole must be an object"));
    }
    return std::move(*whole);
  }

 private:
  static boost::json::parse_options Options() {
    boost::json::parse_options options;
    options.max_depth = kMostDepth;
    return options;
  }

  Status Feed(std::string_view token) {
    // A number is told when the next token shows that it has ended. That one begins no value, or the text is no JSON.
    if (BeginsValue(token.front())) parser_.handler().here = here_;
    error_code ec;
    const std::size_t taken = parser_.write_some(true, token.data(), token.size(), ec);
    if (ec) return Fail(Explain(ec));
    if (taken < token.size()) return Fail(MistakeAt(name_, here_, "more follows after the object"));
    return {};
  }

  void Pass(std::string_view token) {
    const std::size_t line_break = token.rfind('\n');
    if (line_break == std::string_view::npos) {
      here_.column += static_cast<std::uint32_t>(CountCharacters(token));
    } else {
      here_.line += static_cast<std::uint32_t>(std::count(token.begin(), token.end(), '\n'));
      here_.column = static_cast<std::uint32_t>(CountCharacters(token.substr(line_break)));
    }
    at_ += token.size();
  }

  Error Explain(const error_code& ec) const {
    const Builder& builder = parser_.handler();
    if (!builder.complaint.empty()) return MistakeAt(name_, builder.complaint_place, builder.complaint);
    if (ec == boost::json::error::too_deep) {
      return MistakeAt(name_, here_, "more than 32 objects and arrays are inside each other");
    }
    return MistakeAt(name_, here_, "this is no JSON: " + ec.message());
  }

  std::string_view text_;
  std::string_view name_;
  boost::json::basic_parser<Builder> parser_;
  std::size_t at_ = 0;
  Place here_{1, 1};
};

}  // namespace

Result<Value> ReadJson(std::string_view text, std::string_view name) try {
  return JsonReading(text, name).Run();
} catch (const std::exception& failure) {
  return Fail(MistakeAt(name, {1, 1}, failure.what()));
}

}  // namespace caisson::document
