#include "caisson/cli/error_output.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/cli/json_text.h"
#include "caisson/os/fd.h"

namespace caisson::cli {
namespace {

boost::json::value TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

}  // namespace

std::string ErrorText(const Error& error) {
  std::string text = "caisson: " + Printable(error.message()) + "\n";
  if (!error.cause().empty()) text += "  why: " + Printable(error.cause()) + "\n";
  if (!error.remediation().empty()) text += "  fix: " + Printable(error.remediation()) + "\n";
  return text;
}

std::string ErrorJson(const Error& error) {
  boost::json::object details;
  for (const auto& [key, value] : error.details()) details[key] = value;
  boost::json::object body;
  body["code"] = std::string(CodeName(error.code()));
  body["message"] = error.message();
  body["cause"] = TextOrNull(error.cause());
  body["remediation"] = TextOrNull(error.remediation());
  body["retryable"] = error.retryable();
  body["details"] = std::move(details);
  boost::json::object whole;
  whole["error"] = std::move(body);
  return JsonLine(whole);
}

void PrintError(const Error& error, Format format) {
  (void)os::WriteAll(STDERR_FILENO, format == Format::kJson ? ErrorJson(error) : ErrorText(error));
}

void PrintNotice(const std::string& line) { (void)os::WriteAll(STDERR_FILENO, "caisson: " + Printable(line) + "\n"); }

}  // namespace caisson::cli
