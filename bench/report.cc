#include "bench/report.h"

#include <sys/utsname.h>

#include <iomanip>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "bench/catalogue.h"

namespace caisson::bench {
namespace {

constexpr int kNameWidth = 40;
constexpr int kPromiseWidth = 50;
constexpr int kNumberWidth = 10;

double Milliseconds(std::chrono::nanoseconds span) { return std::chrono::duration<double, std::milli>(span).count(); }

std::string Fixed(std::optional<double> value, int decimals, std::string_view absent) {
  if (!value) return std::string(absent);
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << *value;
  return text.str();
}

// A series after a quiet second is compared with the base after a quiet second, other work with none.
std::optional<double> RatioTo(const std::vector<Series>& all, const Series& one, std::string_view base) {
  if (one.group != Group::kTight && one.group != Group::kQuiet) return std::nullopt;
  return MedianRatio(all, one.name, std::string(base) + std::string(one.group == Group::kQuiet ? kQuietSuffix : ""));
}

std::string Quoted(std::string_view text) {
  std::ostringstream quoted;
  quoted << '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted << '\\' << c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Reasons may quote a program's raw output, which need not be UTF-8.
      quoted << "\\u" << std::hex << std::setw(4) << std::setfill('0') << static_cast<int>(byte) << std::dec;
    } else {
      quoted << c;
    }
  }
  quoted << '"';
  return quoted.str();
}

std::string QuotedOrNull(std::string_view text) { return text.empty() ? "null" : Quoted(text); }

void AddRow(std::ostringstream& out, const std::vector<Series>& all, const Series& one) {
  const auto summary = one.samples.Summarize();
  const auto cell = [&out](const std::string& text) { out << std::right << std::setw(kNumberWidth) << text; };
  const auto time = [&](std::chrono::nanoseconds Summary::* member) {
    cell(summary ? Fixed(Milliseconds((*summary).*member), 3, "") : "-");
  };
  out << std::left << std::setw(kNameWidth) << one.name;
  cell(std::to_string(one.samples.count()));
  cell(std::to_string(one.samples.failures()));
  time(&Summary::min);
  time(&Summary::p50);
  time(&Summary::p99);
  for (const auto base : {kForkExec, kFloor, kBubblewrap}) cell(Fixed(RatioTo(all, one, base), 2, "-"));
  out << '\n';
}

std::string Extra(const Verdict& verdict, int decimals, std::string_view absent) {
  return verdict.extra ? Fixed(Milliseconds(*verdict.extra), decimals, absent) : std::string(absent);
}

std::string_view AnswerOf(Standing standing) {
  switch (standing) {
    case Standing::kMet:
      return "yes";
    case Standing::kMissed:
      return "NO";
    case Standing::kNotPromised:
      return "not promised";
    case Standing::kNotMeasured:
      break;
  }
  return "not measured";
}

void AddVerdict(std::ostringstream& out, const Verdict& verdict) {
  out << std::left << std::setw(kPromiseWidth) << verdict.promise.text << std::right << std::setw(kNumberWidth)
      << Fixed(verdict.promise.limit, 2, "-") << std::setw(kNumberWidth) << Fixed(verdict.ratio, 2, "-")
      << std::setw(kNumberWidth) << Extra(verdict, 3, "-") << "  " << AnswerOf(verdict.standing) << '\n';
}

// In the order they were taken.
std::string TimesJson(const Samples& samples) {
  std::string list = "[";
  for (const auto time : samples.times()) list += (list.size() > 1 ? ", " : "") + Fixed(Milliseconds(time), 6, "");
  return list + "]";
}

void AddSeriesJson(std::ostringstream& out, const std::vector<Series>& all, const Series& one) {
  const auto summary = one.samples.Summarize();
  const auto time = [&](std::chrono::nanoseconds Summary::* member) {
    return summary ? Fixed(Milliseconds((*summary).*member), 6, "") : std::string("null");
  };
  out << "{\"name\": " << Quoted(one.name) << ", \"note\": " << Quoted(one.note)
      << ", \"skipped\": " << QuotedOrNull(one.skipped) << ", \"samples\": " << one.samples.count()
      << ", \"failures\": " << one.samples.failures()
      << ", \"first_failure\": " << QuotedOrNull(one.samples.first_failure()) << ", \"min_ms\": " << time(&Summary::min)
      << ", \"p50_ms\": " << time(&Summary::p50) << ", \"p99_ms\": " << time(&Summary::p99)
      << ", \"ratio_to_fork_exec\": " << Fixed(RatioTo(all, one, kForkExec), 4, "null")
      << ", \"ratio_to_floor\": " << Fixed(RatioTo(all, one, kFloor), 4, "null")
      << ", \"ratio_to_bubblewrap\": " << Fixed(RatioTo(all, one, kBubblewrap), 4, "null")
      << ", \"samples_ms\": " << TimesJson(one.samples) << "}";
}

void AddVerdictJson(std::ostringstream& out, const Verdict& verdict) {
  out << "{\"promise\": " << Quoted(verdict.promise.text) << ", \"series\": " << Quoted(verdict.promise.series)
      << ", \"base\": " << Quoted(verdict.promise.base)
      << ", \"limit_ratio\": " << Fixed(verdict.promise.limit, 4, "null")
      << ", \"measured_ratio\": " << Fixed(verdict.ratio, 4, "null")
      << ", \"measured_extra_ms\": " << Extra(verdict, 6, "null")
      << ", \"standing\": " << Quoted(StandingName(verdict.standing)) << "}";
}

std::string KernelRelease() {
  utsname names = {};
  return ::uname(&names) == 0 ? names.release : "unknown";
}

}  // namespace

std::string FormatTable(const std::vector<Series>& series, const std::vector<Verdict>& verdicts) {
  std::ostringstream out;
  out << std::left << std::setw(kNameWidth) << "variant" << std::right;
  for (const auto* title : {"samples", "failures", "min ms", "p50 ms", "p99 ms", "x fork", "x floor", "x bwrap"}) {
    out << std::setw(kNumberWidth) << title;
  }
  out << '\n';
  for (const auto& one : series) AddRow(out, series, one);
  out << '\n';
  for (const auto& one : series) {
    if (one.group != Group::kQuiet) out << one.name << ": " << one.note << '\n';
    if (!one.skipped.empty()) out << one.name << ": skipped: " << one.skipped << '\n';
    if (one.samples.failures() > 0) out << one.name << ": first failure: " << one.samples.first_failure() << '\n';
  }
  out << '\n'
      << std::left << std::setw(kPromiseWidth) << "promise (ratio of medians or of pairs)" << std::right
      << std::setw(kNumberWidth) << "limit" << std::setw(kNumberWidth) << "measured" << std::setw(kNumberWidth)
      << "extra ms" << "  met\n";
  for (const auto& verdict : verdicts) AddVerdict(out, verdict);
  return out.str();
}

std::string FormatJson(const std::vector<Series>& series, const std::vector<Verdict>& verdicts) {
  std::ostringstream out;
  out << "{\n\"host\": {\"kernel\": " << Quoted(KernelRelease())
      << ", \"cpus\": " << std::thread::hardware_concurrency() << "},\n\"series\": [";
  const char* separator = "\n";
  for (const auto& one : series) {
    out << separator;
    AddSeriesJson(out, series, one);
    separator = ",\n";
  }
  out << "\n],\n\"promises\": [";
  separator = "\n";
  for (const auto& verdict : verdicts) {
    out << separator;
    AddVerdictJson(out, verdict);
    separator = ",\n";
  }
  out << "\n]\n}\n";
  return out.str();
}

}  // namespace caisson::bench
