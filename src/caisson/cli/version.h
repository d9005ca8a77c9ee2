#pragma once

namespace caisson::cli {

// "0.1.0".
const char* Version();

}  // namespace caisson::cli
