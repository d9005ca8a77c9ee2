// What the engine takes from the storage process, or, of a kept sandbox, from the process that reads its layer.
// Input: the number of requests, their kinds, then the parts that the process sends (sent_frames.h).

#include <sys/socket.h>

#include "caisson/backend/layer.h"
#include "caisson/os/socket.h"
#include "fuzz/sent_frames.h"

namespace {

using caisson::backend::Layer;
using caisson::fuzz::Require;
namespace plan = caisson::plan;

void RequireKnown(const plan::ChangeList& list) {
  for (const plan::Change& change : list.changes) {
    Require(change.kind <= plan::ChangeKind::kMetadata && change.type <= plan::EntryType::kOther,
            "a change is one there is");
  }
}

void Ask(Layer& layer, std::uint8_t kind) {
  if (kind % 3 == 0) {
    const auto report = layer.TakeReport(plan::ReportScope::kEverything, plan::CheckRoom::kYes);
    if (report) RequireKnown(report->list);
  } else if (kind % 3 == 1) {
    const auto sides = layer.Open(kind / 3);
    Require(!sides || !sides->before.valid() || !sides->after.valid() || sides->before.get() != sides->after.get(),
            "two sides are two descriptors");
  } else {
    (void)layer.Keep("record");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const unsigned requests = input.Take<std::uint8_t>() % 8;
  const std::string_view kinds = input.TakeBytes(requests);
  auto ends = caisson::os::SocketPair(caisson::os::SocketKind::kStream);
  Require(ends.has_value(), "a socket can be made");
  constexpr int kMostParts = 16;
  caisson::fuzz::SendParts(ends->second.get(), input, kMostParts);
  shutdown(ends->second.get(), SHUT_WR);
  Layer layer(std::move(ends->first));
  for (const char kind : kinds) Ask(layer, static_cast<std::uint8_t>(kind));
  return 0;
}
