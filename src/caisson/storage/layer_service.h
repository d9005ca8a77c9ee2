#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/proto/layer.pb.h"
#include "caisson/storage/change_watch.h"
#include "caisson/storage/tracked_layer.h"

namespace caisson::storage {

// What LayerService asks of the layer's owner. Each may be empty.
class LayerOwner {
 public:
  LayerOwner() = default;
  LayerOwner(const LayerOwner&) = delete;
  LayerOwner& operator=(const LayerOwner&) = delete;
  virtual ~LayerOwner() = default;

  // What was touched since the last call; nothing where the kernel does not tell. `entries`: what the layer held at the
  // last report.
  virtual std::optional<ChangeWatch::Names> Touched(std::uint64_t entries) = 0;
  virtual bool IsFull() = 0;
  virtual Status Keep(std::string_view record) = 0;
  virtual Status Stay() = 0;
  // Does what takes long, and sends what it finds, beside what others ask: in a process of its own.
  virtual void Aside(const std::function<void()>& work) = 0;
};

// Answers the engine's requests about one layer (plan/layer_plan.h). Not thread-safe.
class LayerService {
 public:
  LayerService(os::Fd engine, TrackedLayer layer) : engine_(std::move(engine)), layer_(std::move(layer)) {}

  // Readable when a request has come. -1 once the engine is gone. Borrowed.
  int connection() const { return engine_.get(); }
  // Another engine asks from now on.
  void Connect(os::Fd engine) { engine_ = std::move(engine); }
  // One request.
  void Answer(LayerOwner& owner);

 private:
  void Report(const plan::LayerRequest& request, LayerOwner& owner, proto::LayerReply& reply);
  void ReportAll() const;
  void Stay(LayerOwner& owner) const;

  os::Fd engine_;
  TrackedLayer layer_;
  plan::ChangeList last_report_;
};

}  // namespace caisson::storage
