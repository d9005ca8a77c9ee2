#pragma once

#include <cstddef>
#include <string_view>

namespace caisson::shell {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool IsNameByte(char c) { return IsNameStart(c) || IsDigit(c); }
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }
inline bool IsOperator(char c) {
  return c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
}
// What ends an unquoted word; '\0' is the end of the text.
inline bool EndsWord(char c) { return c == '\0' || c == '\n' || IsBlank(c) || IsOperator(c); }

// How many bytes at the start of `text` are a variable's name.
std::size_t NameLength(std::string_view text);

bool IsNumber(std::string_view text);   // one or more decimal digits
bool IsInteger(std::string_view text);  // the same, with or without a minus

// Words that are syntax where a command may begin. `in` is one: bash refuses it there.
bool IsReserved(std::string_view word);
bool IsBuiltin(std::string_view word);

// Variables that bash evaluates as arithmetic when they are set: RANDOM='a[$(cmd)]' runs cmd.
bool IsIntegerVariable(std::string_view name);
// Variables that change how bash reads the rest of the text: its character set or its dialect.
bool ChangesReading(std::string_view name);

}  // namespace caisson::shell
