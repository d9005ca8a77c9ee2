#include "report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "caisson/base/utf8.h"
#include "caisson/os/fd.h"

namespace caisson::demo {
namespace {

constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kRed = "31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kUnstyled;
constexpr std::size_t kNameWidth = 34;

template <typename... Values>
std::string Formatted(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string MemoryText(const sandbox::CommandResult& result) {
  return result.memory_peak_bytes ? SizeText(*result.memory_peak_bytes) : "not known";
}

}  // namespace

Colour ColourOf(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return Colour::kPlain;
  return isatty(fd) == 1 ? Colour::kAnsi : Colour::kPlain;
}

std::string DurationText(std::chrono::nanoseconds duration) {
  const double ms = std::chrono::duration<double, std::milli>(duration).count();
  if (ms < 10) return Formatted("%.1f ms", ms);
  return ms < 1000 ? Formatted("%.0f ms", ms) : Formatted("%.2f s", ms / 1000);
}

std::string SizeText(std::uint64_t bytes) {
  constexpr double kMebibyte = 1 << 20;
  return Formatted("%.1f MiB", static_cast<double>(bytes) / kMebibyte);
}

std::string OutcomeText(const sandbox::Outcome& outcome) {
  std::string text(sandbox::OutcomeName(outcome));
  if (const auto* exited = std::get_if<sandbox::Exited>(&outcome)) text += " " + std::to_string(exited->code);
  if (const auto* signaled = std::get_if<sandbox::Signaled>(&outcome)) text += " " + std::to_string(signaled->signal);
  return text;
}

std::string CommandText(const std::vector<std::string>& argv) {
  constexpr auto kNone = std::string::npos;
  std::string text;
  for (const std::string& argument : argv) {
    if (!text.empty()) text += ' ';
    const bool is_plain = !argument.empty() && argument.find_first_of(" '\"$;()*\n") == kNone;
    const char* const quote = is_plain ? "" : argument.find('\'') == kNone ? "'" : "\"";
    text += quote + argument + quote;
  }
  return text;
}

void Report::Print(std::string_view ansi, const std::string& line) const {
  std::string text = line;
  if (colour_ == Colour::kAnsi && !ansi.empty()) text = "\033[" + std::string(ansi) + "m" + line + "\033[0m";
  (void)os::WriteAll(STDOUT_FILENO, text + "\n");
}

void Report::Title(std::string_view text) { Print(kBold, std::string(text)); }

void Report::Step(std::string_view text) {
  ++steps_;
  Print(kUnstyled, "");
  Print(kBold, std::to_string(steps_) + ". " + std::string(text));
}

void Report::Line(std::string_view text) { Print(kUnstyled, "   " + Printable(text)); }

void Report::Command(std::string_view where, const std::vector<std::string>& argv) {
  const std::string place = where.empty() ? "" : std::string(where) + " ";
  Print(kBold, "   " + place + "$ " + Printable(CommandText(argv)));
}

void Report::Tail(std::string_view output, std::size_t count) {
  std::vector<std::string_view> lines;
  while (!output.empty() && lines.size() < count) {
    const std::size_t start = output.rfind('\n');
    const std::string_view line = start == std::string_view::npos ? output : output.substr(start + 1);
    if (!line.empty()) lines.push_back(line);
    output = start == std::string_view::npos ? std::string_view() : output.substr(0, start);
  }
  std::for_each(lines.rbegin(), lines.rend(),
                [this](std::string_view line) { Print(kDim, "   | " + Printable(line.substr(0, 110))); });
}

void Report::Used(std::string_view name, const sandbox::CommandResult& result) {
  const std::string outcome = OutcomeText(result.outcome);
  Line(outcome + " in " + DurationText(result.duration) + ", CPU " + DurationText(result.cpu) + ", memory peak " +
       MemoryText(result));
  rows_.push_back(Padded(std::string(name), kNameWidth) + Padded(outcome, 12) +
                  Padded(DurationText(result.duration), 10) + Padded(DurationText(result.cpu), 10) +
                  MemoryText(result));
}

void Report::Removed(std::string_view line) { Print(kRed, "   - " + Printable(line)); }
void Report::Added(std::string_view line) { Print(kGreen, "   + " + Printable(line)); }

void Report::Expect(std::string_view statement, std::string_view expected, std::string_view found) {
  if (expected == found) {
    ++held_;
    Print(kGreen, "   held: " + Printable(statement));
    return;
  }
  const std::string difference =
      std::string(statement) + " (expected: " + std::string(expected) + "; found: " + std::string(found) + ")";
  differences_.push_back(Printable(difference));
  Print(kRed, "   DIFFERS: " + differences_.back());
}

void Report::Conclude(std::chrono::nanoseconds duration) {
  Print(kUnstyled, "");
  Print(kBold, "What ran in the sandbox");
  Print(kDim, "   " + Padded("command", kNameWidth) + Padded("outcome", 12) + Padded("time", 10) + Padded("CPU", 10) +
                  "memory peak");
  for (const std::string& row : rows_) Print(kUnstyled, "   " + Printable(row));
  Print(kUnstyled, "");
  if (AllHeld()) {
    Print(kGreen, "All " + std::to_string(held_) + " expectations held. The demo took " + DurationText(duration) + ".");
    return;
  }
  Print(kRed, std::to_string(differences_.size()) + " of " +
                  std::to_string(held_ + static_cast<int>(differences_.size())) + " expectations differed:");
  for (const std::string& difference : differences_) Print(kRed, "   " + difference);
}

}  // namespace caisson::demo
