#pragma once

#include <string>

#include "caisson/base/error.h"

namespace caisson::cli {

enum class Format { kText, kJson };

// For people: "caisson: <what failed>", then why and what to do on lines of their own. Safe for a terminal.
std::string ErrorText(const Error& error);

// {"error":{"code","message","cause","remediation","retryable","details"}} on one line.
std::string ErrorJson(const Error& error);

// Writes an error to stderr. A failure to write is ignored: there is nowhere left to say so.
void PrintError(const Error& error, Format format);

// Writes "caisson: <line>" to stderr, safe for a terminal.
void PrintNotice(const std::string& line);

}  // namespace caisson::cli
