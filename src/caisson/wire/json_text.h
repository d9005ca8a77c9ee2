#pragma once

#include <string>

namespace boost::json {
class value;
}

namespace caisson::wire {

// One line of JSON, newline included. Keys keep their order, numbers are written without an exponent, and what is not
// UTF-8 becomes U+FFFD: valid JSON whatever the value holds. Source: RFC 8259.
std::string JsonLine(const boost::json::value& value);

// Milliseconds with at most three decimals, for keys that end in _ms.
double RoundedMilliseconds(long long nanoseconds);

}  // namespace caisson::wire
