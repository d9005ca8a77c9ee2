#pragma once

#include <mutex>
#include <optional>

#include "caisson/backend/layer.h"
#include "caisson/base/result.h"
#include "caisson/sandbox/change_spans.h"

namespace caisson::sandbox {

// Finds out what each command of a sandbox changed. Thread-safe. Private to the module.
class ChangeTracker {
 public:
  explicit ChangeTracker(backend::Layer& layer) : layer_(layer) {}

  // A command starts now: what changed before is not its doing. Asks the storage process only when something may have
  // changed since the last answer.
  ChangeSpans::Id Begin();
  struct Changes {
    plan::ChangeList list;
    bool disk_full = false;  // with CheckRoom::kYes
  };
  // The command has ended. Errors: the storage process does not answer.
  Result<Changes> End(ChangeSpans::Id id, plan::CheckRoom check_room);
  // The same, when nobody wants to know.
  void Abandon(ChangeSpans::Id id);

  // As long as this exists something changes files that nobody will ask about. Those who ask about their own see it.
  class Unasked {
   public:
    explicit Unasked(ChangeTracker& tracker);
    ~Unasked();
    Unasked(const Unasked&) = delete;
    Unasked& operator=(const Unasked&) = delete;

   private:
    ChangeTracker& tracker_;
  };

  // Something that no span covers may change files as long as the sandbox lives.
  void ExpectChangesAlways();

 private:
  // Others that run beside the one who asks, and processes that outlived their command, may have files open.
  plan::ReportScope ScopeBeside(std::size_t spans) const {
    return always_ || spans + unasked_ > 0 ? plan::ReportScope::kEverything : plan::ReportScope::kClosedFiles;
  }

  backend::Layer& layer_;
  std::mutex mutex_;
  ChangeSpans spans_;
  std::size_t unasked_ = 0;
  bool unknown_change_ = false;
  bool always_ = false;
};

}  // namespace caisson::sandbox
