#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/change.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/proto/layer.pb.h"

namespace caisson::backend {

// A sandbox's writable layer as the engine holds it: a connection to the storage process. Thread-safe.
class Layer {
 public:
  explicit Layer(os::Fd connection) : connection_(std::move(connection)) {}

  struct Report {
    plan::ChangeList list;
    bool is_full = false;  // with CheckRoom::kYes: a program that writes now is told that there is no room
  };
  // What changed since the last call or, the first time, since the sandbox was made. Errors: kUnavailable when the
  // storage process is gone; kDeadlineExceeded after 30 s, and from then on kUnavailable.
  Result<Report> TakeReport(plan::ReportScope scope, plan::CheckRoom check_room);

  // Everything that differs from what the sandbox was made from. Errors: as above.
  Result<plan::ChangeList> ReportAll();

  // From here on the layer outlives the sandbox, with this record, at most storage::kMaxRecord. Errors: kUnsupported
  // for one in memory.
  Status Keep(std::string_view record);

  // The same, and the sandbox can be given it again (plan::Files::kKept). Waits until all of it is on the disk, at most
  // 2 minutes.
  Status Stay();

  // The content of the `index`-th entry of the last report, before and now. A descriptor is invalid where there is no
  // file, a target absent where there is no symbolic link.
  struct Sides {
    os::Fd before;
    os::Fd after;
    std::optional<std::string> link_before;
    std::optional<std::string> link_after;
  };
  Result<Sides> Open(std::uint32_t index);

 private:
  Result<proto::LayerReply> Ask(const plan::LayerRequest& request, std::string_view rest, std::vector<os::Fd>& fds,
                                std::chrono::seconds patience = kPatience);

  std::mutex mutex_;  // one request at a time
  os::Fd connection_;
  static constexpr std::chrono::seconds kPatience{30};
};

}  // namespace caisson::backend
