#pragma once

#include <string>
#include <string_view>

#include "escape/probe.h"

namespace caisson::escape {

// Acts that several probes share.

// Opens `path` with `flags` and closes it again; O_TRUNC and O_CREAT are the caller's to leave out.
Outcome TryOpen(const std::string& path, int flags);

// Reads one byte of `path`. ENODATA: it opens but holds nothing, as a masked file does.
Outcome TryRead(const std::string& path);

// The first `limit` bytes of a file, empty when it cannot be read.
std::string Content(const std::string& path, std::size_t limit = 1U << 20U);

// The value of a line "key:\tvalue" in /proc/self/status, empty when there is none.
std::string StatusField(std::string_view key);

// Writes a small file of mode 0644. False when that fails.
[[nodiscard]] bool WriteSmallFile(const std::string& path, std::string_view content);

// Runs `act` in a child process and returns what it returned, at most 126; 127 when the child died otherwise.
int ExitStatusOf(const std::function<int()>& act);

}  // namespace caisson::escape
