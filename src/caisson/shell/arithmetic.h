#pragma once

#include <cstdint>

#include "caisson/shell/scan.h"

namespace caisson::shell {

enum class ArithmeticKind : std::uint8_t { kExpression, kLoop };  // of a loop: three, with ; between them

// What follows $(( or ((, through the )). Only numbers and operators are accepted: bash evaluates the value of a
// variable as arithmetic again, and a[$(cmd)] runs cmd.
void ReadArithmetic(Scan& scan, ArithmeticKind kind);

}  // namespace caisson::shell
