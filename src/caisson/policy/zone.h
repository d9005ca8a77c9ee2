#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

// A time zone of the IANA database, as a file of it says (RFC 8536). Immutable.
class Zone {
 public:
  virtual ~Zone() = default;
  virtual const std::string& name() const = 0;
  // What clocks there show.
  virtual std::chrono::local_time<std::chrono::milliseconds> Local(Time time) const = 0;
  // The next change of the clocks there after `time`, at most some years ahead; absent: none.
  virtual std::optional<Time> NextTransition(Time time) const = 0;
};

// Where zones come from. Thread-safe. A name is of letters, digits, '_', '+', '-' and single slashes between them.
class ZoneSource {
 public:
  virtual ~ZoneSource() = default;
  // Errors: kInvalidArgument when there is no such zone, kUnsupported when there is no zone data at all, with the
  // package.
  virtual Result<std::shared_ptr<const Zone>> Find(std::string_view name) const = 0;
};

// Reads /usr/share/zoneinfo when asked. Borrowed, for the program's life.
const ZoneSource& SystemZones();
// The same, where `folder` is what tells whether there is zone data, and of which zones.
std::unique_ptr<ZoneSource> ZonesListedIn(std::string folder);

}  // namespace caisson::policy
