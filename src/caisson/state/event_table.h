#pragma once

#include <cstdint>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/state/connection.h"
#include "caisson/state/event_record.h"
#include "caisson/state/statement.h"

namespace caisson::state {

// The rows of events, of which the newest are kept. For Database, which brings the lock and, around all that writes, a
// transaction. Errors: those of Connection::Failure.
class EventTable {
 public:
  // `keep`: how many stay. Up to kSlack more may be there for a while.
  static Result<EventTable> Prepare(const Connection& connection, std::uint64_t keep);
  static constexpr std::uint64_t kSlack = 256;

  // The number it got. Now and then also forgets what is too old.
  Result<std::uint64_t> Append(const EventRecord& event);
  // At most `limit` of those with a number above `after`, in order.
  Result<std::vector<EventRecord>> After(std::uint64_t after, std::uint32_t limit);
  // The number of the newest that ever was; 0: there was none.
  Result<std::uint64_t> Newest();

 private:
  EventTable() = default;
  Statement insert_;
  Statement after_;
  Statement newest_;
  Statement trim_;
  std::uint64_t keep_ = 0;
};

}  // namespace caisson::state
