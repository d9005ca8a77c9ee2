#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/sandbox/command.h"

namespace caisson::demo {

enum class Colour { kPlain, kAnsi };

// Colour for a terminal, unless NO_COLOR is set to something. Source: no-color.org.
Colour ColourOf(int fd);

// "8.1 ms", "412 ms", "1.62 s".
std::string DurationText(std::chrono::nanoseconds duration);
// "36.2 MiB".
std::string SizeText(std::uint64_t bytes);
// "exited 0", "signaled 9", "timed_out".
std::string OutcomeText(const sandbox::Outcome& outcome);
// The arguments for a reader, in quotes where a shell needs them.
std::string CommandText(const std::vector<std::string>& argv);

// Writes the demo's text to stdout as it happens and remembers each expectation that did not hold. What comes from a
// sandbox is printed with its control characters escaped.
class Report {
 public:
  explicit Report(Colour colour) : colour_(colour) {}

  void Title(std::string_view text);
  // A numbered step.
  void Step(std::string_view text);
  void Line(std::string_view text);
  // "$ command", with where it runs when that is not the sandbox.
  void Command(std::string_view where, const std::vector<std::string>& argv);
  // The last `count` lines of an output, blank ones left out.
  void Tail(std::string_view output, std::size_t count);
  // One line about what a command in the sandbox used; also a row of the table at the end.
  void Used(std::string_view name, const sandbox::CommandResult& result);
  void Removed(std::string_view line);
  void Added(std::string_view line);

  // An expectation: it holds when the two are equal. The text is a statement of what then holds.
  void Expect(std::string_view statement, std::string_view expected, std::string_view found);

  // The table of the commands, and whether everything held.
  void Conclude(std::chrono::nanoseconds duration);
  bool AllHeld() const { return differences_.empty(); }

 private:
  void Print(std::string_view ansi, const std::string& line) const;

  Colour colour_;
  int steps_ = 0;
  int held_ = 0;
  std::vector<std::string> rows_;
  std::vector<std::string> differences_;
};

}  // namespace caisson::demo
