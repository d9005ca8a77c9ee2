#include "caisson/cli/error_output.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/os/fd.h"
#include "caisson/wire/error_json.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {

std::string ErrorText(const Error& error) {
  std::string text = "caisson: " + Printable(error.message()) + "\n";
  if (!error.cause().empty()) text += "  why: " + Printable(error.cause()) + "\n";
  if (!error.remediation().empty()) text += "  fix: " + Printable(error.remediation()) + "\n";
  return text;
}

std::string ErrorJson(const Error& error) {
  boost::json::object whole;
  whole["error"] = wire::ErrorObject(error);
  return wire::JsonLine(whole);
}

void PrintError(const Error& error, Format format) {
  (void)os::WriteAll(STDERR_FILENO, format == Format::kJson ? ErrorJson(error) : ErrorText(error));
}

void PrintNotice(const std::string& line) { (void)os::WriteAll(STDERR_FILENO, "caisson: " + Printable(line) + "\n"); }

}  // namespace caisson::cli
