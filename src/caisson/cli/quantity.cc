#include "caisson/cli/quantity.h"

namespace caisson::cli {

std::string FormatCpus(MilliCpus cpus) {
  std::string text = std::to_string(cpus.value / 1000);
  if (cpus.value % 1000 == 0) return text;
  std::string fraction = std::to_string(1000 + cpus.value % 1000).substr(1);
  while (fraction.back() == '0') fraction.pop_back();
  return text + "." + fraction;
}

}  // namespace caisson::cli
