#pragma once

#include <string>
#include <string_view>

namespace caisson {

// Paths as texts; no file is looked at.

// Absolute, without "." and "..", empty parts, a slash at the end (but "/") and a zero byte.
bool IsNormalPath(std::string_view path);

// `path` as such a one, made absolute against `folder` when it is relative. What stands before ".." counts as a folder
// that is no link.
std::string NormalPath(std::string_view folder, std::string_view path);

// `path` is `folder` or below it; both as IsNormalPath has them.
bool IsBelow(std::string_view path, std::string_view folder);

// The part after the last slash, and what stands before it ("/" for "/x").
std::string_view LastPart(std::string_view path);
std::string_view FolderOf(std::string_view path);

// Whether a folder can hold an entry of this name: who joins it with a path does not land elsewhere.
bool IsEntryName(std::string_view name);

}  // namespace caisson
