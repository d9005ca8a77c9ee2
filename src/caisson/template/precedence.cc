#include "caisson/template/precedence.h"

namespace caisson::templates {

Layer Merge(const std::vector<Layer>& strongest_first) {
  Layer merged;
  for (const Layer& layer : strongest_first) merged.insert(layer.begin(), layer.end());  // what is there stays
  return merged;
}

}  // namespace caisson::templates
