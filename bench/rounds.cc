#include "bench/rounds.h"

#include <algorithm>
#include <random>
#include <thread>

namespace caisson::bench {

void RunInterleaved(std::vector<Series*> series, int rounds, std::chrono::milliseconds pause) {
  if (series.empty() || rounds <= 0) return;
  for (auto* one : series) static_cast<void>(one->variant->RunOnce());
  std::minstd_rand random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(series.begin(), series.end(), random);
    for (auto* one : series) {
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      const auto sample = one->variant->RunOnce();
      if (sample) {
        one->samples.Add(*sample);
      } else {
        one->samples.AddFailure(sample.error());
      }
    }
  }
}

}  // namespace caisson::bench
