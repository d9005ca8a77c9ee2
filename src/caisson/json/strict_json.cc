#include "caisson/json/strict_json.h"

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <exception>
#include <string>
#include <unordered_set>
#include <vector>

#include "caisson/base/utf8.h"

namespace caisson::json {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Boost.JSON keeps the last of two equal names and makes 1e400 infinite. This walks over the text once before, builds
// nothing and refuses both. The functions and their signatures are those that basic_parser calls.
struct Judge {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  std::vector<std::unordered_set<std::string>> names;  // of the objects around
  std::string key;                                     // what came of it
  std::string complaint;

  bool Refuse(std::string why, error_code& ec) {
    complaint = std::move(why);
    ec = boost::json::error::syntax;
    return false;
  }
  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    names.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    names.pop_back();
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& ec) {
    key.append(part.data(), part.size());
    const auto [name, is_new] = names.back().insert(std::move(key));
    key.clear();
    if (!is_new) return Refuse("the name " + Quoted(*name) + " is twice in one object", ec);
    return true;
  }
  bool on_string_part(string_view, std::size_t, error_code&) { return true; }
  bool on_string(string_view, std::size_t, error_code&) { return true; }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, string_view, error_code&) { return true; }
  bool on_uint64(std::uint64_t, string_view, error_code&) { return true; }
  bool on_double(double number, string_view, error_code& ec) {
    return std::isfinite(number) || Refuse("a number is too large", ec);
  }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

Error Malformed(std::string cause) {
  return Error(Code::kInvalidArgument, "the body is not valid JSON").Because(std::move(cause));
}

}  // namespace

Result<boost::json::value> ParseStrictJson(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kMostDepth;
  try {
    boost::json::basic_parser<Judge> judge(options);
    error_code ec;
    const std::size_t taken = judge.write_some(false, text.data(), text.size(), ec);
    if (ec && !judge.handler().complaint.empty()) return Fail(Malformed(judge.handler().complaint));
    if (ec) return Fail(Malformed(ec.message() + " near byte " + std::to_string(taken)));
    boost::json::value value = boost::json::parse(string_view(text.data(), text.size()), ec, {}, options);
    if (ec) return Fail(Malformed(ec.message()));
    return value;
  } catch (const std::exception& failure) {
    return Fail(Malformed(failure.what()));
  }
}

}  // namespace caisson::json
