#include "bench/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bench/catalogue.h"
#include "caisson/base/units.h"

namespace caisson::bench {
namespace {

constexpr std::uint64_t kMostRounds = 1'000'000;

Status AddOnly(Options& options, std::string_view name) {
  const auto& all = AllSeries();
  if (std::none_of(all.begin(), all.end(), [name](const SeriesName& one) { return one.Text() == name; })) {
    std::string known;
    for (const auto& one : all) known += (known.empty() ? "" : ", ") + one.Text();
    return Fail(Error(Code::kInvalidArgument, "no series is named " + std::string(name)).Because("known: " + known));
  }
  options.only.emplace_back(name);
  return {};
}

Status Apply(Options& options, std::string_view option, std::string_view value) {
  if (option == "--only") return AddOnly(options, value);
  if (option == "--json") {
    options.json_file = value;
    return {};
  }
  const bool quiet = option == "--quiet-rounds";
  CAISSON_TRY(const auto count, ParseCount(value, option, quiet ? 0 : 1, kMostRounds));
  (quiet ? options.quiet_rounds : options.rounds) = static_cast<int>(count);
  return {};
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string_view>& arguments) {
  constexpr std::string_view kTakeValue[] = {"--rounds", "--quiet-rounds", "--only", "--json"};
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    if (option == "--help" || option == "-h") {
      options.help = true;
      return options;
    }
    if (std::find(std::begin(kTakeValue), std::end(kTakeValue), option) == std::end(kTakeValue)) {
      return Fail(Error(Code::kInvalidArgument, "unknown option " + std::string(option)));
    }
    if (i + 1 == arguments.size()) {
      return Fail(Error(Code::kInvalidArgument, std::string(option) + " needs a value"));
    }
    CAISSON_CHECK_OK(Apply(options, option, arguments[++i]));
  }
  return options;
}

}  // namespace caisson::bench
