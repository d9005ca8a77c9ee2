#include "caisson/backend/layer.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/os/socket.h"

namespace caisson::backend {
namespace {

constexpr std::chrono::seconds kDiskPatience{120};

Result<plan::Change> ReadChange(const proto::LayerChange& entry) {
  if (entry.kind() > static_cast<std::uint32_t>(plan::ChangeKind::kMetadata) ||
      entry.type() > static_cast<std::uint32_t>(plan::EntryType::kOther)) {
    return Fail(Error(Code::kInternal, "the storage process named a change that there is not"));
  }
  return plan::Change{.path = entry.path(),
                      .kind = static_cast<plan::ChangeKind>(entry.kind()),
                      .type = static_cast<plan::EntryType>(entry.type()),
                      .size_bytes = entry.size_bytes()};
}

Result<plan::ChangeList> ReadChanges(const proto::LayerReply& reply) {
  plan::ChangeList list;
  for (const proto::LayerChange& entry : reply.changes()) {
    CAISSON_TRY(plan::Change change, ReadChange(entry));
    list.changes.push_back(std::move(change));
  }
  list.truncated = reply.truncated();
  return list;
}

}  // namespace

Result<plan::ChangeList> Layer::ReportAll() {
  std::vector<os::Fd> none;
  CAISSON_TRY(const proto::LayerReply reply, Ask({.verb = plan::LayerVerb::kReportAll}, "", none));
  return ReadChanges(reply);
}

Result<Layer::Report> Layer::TakeReport(plan::ReportScope scope, plan::CheckRoom check_room) {
  std::vector<os::Fd> none;
  const plan::LayerRequest request{.verb = plan::LayerVerb::kReport, .scope = scope, .check_room = check_room};
  CAISSON_TRY(const proto::LayerReply reply, Ask(request, "", none));
  Report report;
  CAISSON_TRY(report.list, ReadChanges(reply));
  report.is_full = reply.is_full();
  return report;
}

Result<Layer::Sides> Layer::Open(std::uint32_t index) {
  std::vector<os::Fd> fds;
  CAISSON_TRY(const proto::LayerReply reply, Ask({.verb = plan::LayerVerb::kOpen, .index = index}, "", fds));
  if (fds.size() != std::size_t{reply.has_before()} + std::size_t{reply.has_after()}) {
    return Fail(Error(Code::kInternal, "the storage process's reply lacks descriptors"));
  }
  Sides sides;
  if (reply.has_before()) sides.before = std::move(fds.front());
  if (reply.has_after()) sides.after = std::move(fds.back());
  if (reply.has_link_before()) sides.link_before = reply.link_before();
  if (reply.has_link_after()) sides.link_after = reply.link_after();
  return sides;
}

Status Layer::Keep(std::string_view record) {
  std::vector<os::Fd> none;
  CAISSON_TRY(const proto::LayerReply reply, Ask({.verb = plan::LayerVerb::kKeep}, record, none));
  return {};
}

Status Layer::Stay() {
  std::vector<os::Fd> none;
  CAISSON_TRY(const proto::LayerReply reply, Ask({.verb = plan::LayerVerb::kStay}, "", none, kDiskPatience));
  return {};
}

Result<proto::LayerReply> Layer::Ask(const plan::LayerRequest& request, std::string_view rest, std::vector<os::Fd>& fds,
                                     std::chrono::seconds patience) {
  const std::lock_guard lock(mutex_);
  const auto lost = [&](Error error) {
    connection_.Reset();  // a late answer would be taken for the next one's
    return Fail(std::move(error).Context("asking the storage process"));
  };
  if (!connection_.valid()) return lost(Error(Code::kUnavailable, "the storage process is gone"));
  std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  bytes += rest;
  if (const Status sent = os::SendFrame(connection_.get(), bytes); !sent) return lost(sent.error());
  auto frame = os::ReceiveFrame(connection_.get(), Deadline::In(patience));
  if (!frame) return lost(frame.error());
  proto::LayerReply reply;
  if (!reply.ParseFromString(frame->data)) return lost(Error(Code::kInternal, "the answer is malformed"));
  if (reply.error() != 0) {
    return Fail(Error::FromErrno(reply.error(),
                                 reply.message().empty() ? "the storage process refused a request" : reply.message()));
  }
  fds = std::move(frame->fds);
  return reply;
}

}  // namespace caisson::backend
