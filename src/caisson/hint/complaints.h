#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/hint/hint.h"

namespace caisson::hint {

// What a command wrote about its trouble: standard error, or what was on its terminal. Of a long one its first and last
// 64 KiB, with a line break between. Empty when the command succeeded: then nothing of it is a complaint.
std::string Complaints(const Evidence& evidence);

// True when the command exited with this status.
bool ExitedWith(const Evidence& evidence, int code);

// The last line for which `parse` has an answer, and that answer: what ended a command is said last. `parse` takes a
// std::string_view without its line end and returns an optional.
template <typename Parse>
auto LastAnswer(std::string_view text, Parse parse) -> decltype(parse(text)) {
  while (!text.empty()) {
    const std::size_t end = text.ends_with('\n') ? text.size() - 1 : text.size();
    const std::size_t start = text.substr(0, end).rfind('\n') + 1;  // of none: npos + 1 is 0
    std::string_view line = text.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto answer = parse(line)) return answer;
    text = text.substr(0, start);
  }
  return std::nullopt;
}

// Where a phrase stands in a line.
struct Phrase {
  std::size_t at = 0;
  std::size_t size = 0;
};
// The first of the phrases that is in the line, with either case of its first letter.
std::optional<Phrase> FindPhrase(std::string_view line, std::initializer_list<std::string_view> phrases);

// What the line that holds this phrase is about: PATH in "cat: PATH: Permission denied", "touch: cannot touch 'PATH':
// Permission denied", "[Errno 13] Permission denied: 'PATH'". Empty when it names nothing.
std::string_view SubjectOf(std::string_view line, const Phrase& phrase);

// The part of a message before its last ": ", and after it; the first is empty when there is none.
struct Split {
  std::string_view before;
  std::string_view after;
};
Split SplitLast(std::string_view text);

// Without the folders before it.
std::string_view BaseName(std::string_view path);
// Without quotes around it, ASCII ones or those of a UTF-8 locale.
std::string_view WithoutQuotes(std::string_view text);

// `text` as a name in a message: in backquotes, at most 200 bytes, without a control character or a backquote.
std::string Named(std::string_view text);

}  // namespace caisson::hint
