#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "caisson/plan/change.h"

namespace caisson::sandbox {

// Sorts what is reported of a layer, one report after the other, into the spans of the commands that run meanwhile: a
// command's changes are those of every report between its start and its end, taken together. Pure; not thread-safe.
class ChangeSpans {
 public:
  // What one span holds until its end, however many reports there are meanwhile.
  static constexpr std::size_t kMaxHeld = 4 * plan::kMaxChanges;
  static constexpr std::size_t kMaxHeldBytes = 4 * plan::kMaxChangeBytes;

  using Id = std::uint64_t;

  std::size_t size() const { return spans_.size(); }
  // What is reported from now on belongs to the new span too.
  Id Begin();
  void Add(const plan::ChangeList& report);
  // What was reported since its Begin.
  plan::ChangeList End(Id id);

 private:
  struct Span {
    std::map<std::string, plan::Change> changes;
    std::size_t bytes = 0;  // of their paths
    bool is_full = false;   // takes no further path
    bool truncated = false;
  };
  static void AddTo(Span& span, const plan::Change& change);

  std::map<Id, Span> spans_;
  Id last_ = 0;
};

}  // namespace caisson::sandbox
