#pragma once

#include <string>

namespace caisson::support {

// Copies a program of the host and the libraries it names to the same places below `image`.
void AddProgram(const std::string& image, const std::string& program);

}  // namespace caisson::support
