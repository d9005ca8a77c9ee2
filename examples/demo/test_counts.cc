#include "test_counts.h"

#include <charconv>
#include <optional>

namespace caisson::demo {
namespace {

std::optional<int> NumberAt(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

// The number behind "(failures=" or " failures=" in a closing line; 0 when it is not named.
int Named(std::string_view closing, std::string_view name) {
  for (const char before : {'(', ' '}) {
    const std::string key = before + std::string(name) + "=";
    const std::size_t at = closing.find(key);
    if (at != std::string_view::npos) return NumberAt(closing.substr(at + key.size())).value_or(0);
  }
  return 0;
}

bool TakePrefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

}  // namespace

Result<TestCounts> ParseTestCounts(std::string_view output) {
  TestCounts counts;
  std::optional<int> ran;
  std::optional<std::string_view> closing;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (TakePrefix(line, "FAIL: ") || TakePrefix(line, "ERROR: ")) {
      counts.failing.emplace_back(line);
    } else if (TakePrefix(line, "Ran ")) {
      ran = NumberAt(line);
      closing.reset();
    } else if (ran && (line == "OK" || line.starts_with("OK (") || line.starts_with("FAILED ("))) {
      closing = line;
    }
  }
  if (!ran || !closing) {
    return Fail(Error(Code::kInvalidArgument, "the test run did not come to its end")
                    .Because("its output lacks the closing lines 'Ran N tests' and OK or FAILED"));
  }
  counts.tests = *ran;
  counts.failed = Named(*closing, "failures") + Named(*closing, "errors") + Named(*closing, "unexpected successes");
  counts.skipped = Named(*closing, "skipped");
  return counts;
}

std::string CountsText(const TestCounts& counts) {
  return std::to_string(counts.tests) + " tests, " + std::to_string(counts.failed) + " failed, " +
         std::to_string(counts.skipped) + " skipped";
}

}  // namespace caisson::demo
