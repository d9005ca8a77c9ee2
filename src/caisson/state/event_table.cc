#include "caisson/state/event_table.h"

#include <string>
#include <utility>

#include "caisson/state/page.h"

namespace caisson::state {

Result<EventTable> EventTable::Prepare(const Connection& connection, std::uint64_t keep) {
  EventTable table;
  table.keep_ = keep;
  const std::pair<Statement*, const char*> statements[] = {
      {&table.insert_,
       "INSERT INTO events (time, type, sandbox, command, caller, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
       "RETURNING number"},
      {&table.after_,
       "SELECT number, time, type, sandbox, command, caller, detail FROM events WHERE number > ?1 "
       "ORDER BY number LIMIT ?2"},
      {&table.newest_, "SELECT seq FROM sqlite_sequence WHERE name = 'events'"},
      {&table.trim_, "DELETE FROM events WHERE number <= ?1"},
  };
  for (const auto& [statement, sql] : statements) {
    CAISSON_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Result<std::uint64_t> EventTable::Append(const EventRecord& event) {
  std::uint64_t number = 0;
  {
    Query query(insert_, event.time, event.type, event.sandbox, event.command, event.caller, event.detail);
    CAISSON_TRY(const bool found, query.Next());
    if (found) query.Read(number);
    CAISSON_CHECK_OK(query.Run());
  }
  // Numbers have no gaps, so that the number alone says what is too old.
  if (number % kSlack == 0 && number > keep_) CAISSON_CHECK_OK(Query(trim_, number - keep_).Run());
  return number;
}

Result<std::vector<EventRecord>> EventTable::After(std::uint64_t after, std::uint32_t limit) {
  if (limit < 1 || limit > kMaxPage) {
    return Fail(Error(Code::kInvalidArgument, "a page holds 1 to " + std::to_string(kMaxPage) + " events"));
  }
  std::vector<EventRecord> events;
  Query query(after_, after, std::uint64_t{limit});
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return events;
    EventRecord& event = events.emplace_back();
    query.Read(event.number, event.time, event.type, event.sandbox, event.command, event.caller, event.detail);
  }
}

Result<std::uint64_t> EventTable::Newest() {
  Query query(newest_);
  std::uint64_t number = 0;
  CAISSON_TRY(const bool found, query.Next());
  if (found) query.Read(number);
  return number;
}

}  // namespace caisson::state
