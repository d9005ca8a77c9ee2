#include "caisson/storage/layer_service.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include "caisson/os/socket.h"

namespace caisson::storage {
namespace {

using plan::LayerVerb;

// A frame that has begun to arrive arrives whole: it is smaller than a socket's buffer.
constexpr std::chrono::seconds kFramePatience{5};

void AddChanges(const plan::ChangeList& list, proto::LayerReply& reply) {
  for (const plan::Change& change : list.changes) {
    proto::LayerChange& entry = *reply.add_changes();
    entry.set_path(change.path);
    entry.set_kind(static_cast<std::uint32_t>(change.kind));
    entry.set_type(static_cast<std::uint32_t>(change.type));
    entry.set_size_bytes(change.size_bytes);
  }
  reply.set_truncated(list.truncated);
}

void NoteFailure(const Status& status, proto::LayerReply& reply) {
  if (status) return;
  reply.set_error(status.error().errno_value() == 0 ? ENOTSUP : status.error().errno_value());
  reply.set_message(status.error().message());
}

}  // namespace

void LayerService::Answer(LayerOwner& owner) {
  const auto frame = os::ReceiveFrame(engine_.get(), Deadline::In(kFramePatience));
  plan::LayerRequest request;
  if (!frame || frame->data.size() < sizeof request) return engine_.Reset();
  std::memcpy(&request, frame->data.data(), sizeof request);
  const std::string_view rest = std::string_view(frame->data).substr(sizeof request);
  proto::LayerReply reply;
  TrackedLayer::Sides sides;
  std::vector<int> fds;
  if (request.verb == LayerVerb::kReport && request.scope <= plan::ReportScope::kEverything) {
    Report(request, owner, reply);
  } else if (request.verb == LayerVerb::kOpen && request.index < last_report_.changes.size()) {
    sides = layer_.Open(last_report_.changes[request.index].path);
    reply.set_has_before(sides.before.valid());
    reply.set_has_after(sides.after.valid());
    if (sides.link_before) reply.set_link_before(*sides.link_before);
    if (sides.link_after) reply.set_link_after(*sides.link_after);
    if (sides.before.valid()) fds.push_back(sides.before.get());
    if (sides.after.valid()) fds.push_back(sides.after.get());
  } else if (request.verb == LayerVerb::kReportAll) {
    // The engine asks nothing else meanwhile.
    return owner.Aside([this] { ReportAll(); });
  } else if (request.verb == LayerVerb::kStay) {
    return owner.Aside([this, &owner] { Stay(owner); });
  } else if (request.verb == LayerVerb::kKeep) {
    NoteFailure(owner.Keep(rest), reply);
  } else {
    reply.set_error(EINVAL);
  }
  if (!os::SendFrame(engine_.get(), reply.SerializeAsString(), fds)) engine_.Reset();
}

void LayerService::Report(const plan::LayerRequest& request, LayerOwner& owner, proto::LayerReply& reply) {
  const auto touched = owner.Touched(layer_.entries());
  last_report_ = layer_.Report(touched ? &*touched : nullptr, request.scope);
  AddChanges(last_report_, reply);
  if (request.check_room == plan::CheckRoom::kYes) reply.set_is_full(owner.IsFull());
}

void LayerService::ReportAll() const {
  proto::LayerReply reply;
  if (auto overlays = layer_.DuplicateOverlays()) {
    TrackedLayer fresh(*std::move(overlays), TrackedLayer::Start::kEmptyUppers);
    AddChanges(fresh.Report(nullptr, plan::ReportScope::kEverything), reply);
  } else {
    reply.set_error(EMFILE);
  }
  (void)os::SendFrame(engine_.get(), reply.SerializeAsString());
}

void LayerService::Stay(LayerOwner& owner) const {
  proto::LayerReply reply;
  NoteFailure(owner.Stay(), reply);
  (void)os::SendFrame(engine_.get(), reply.SerializeAsString());
}

}  // namespace caisson::storage
