#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "caisson/base/units.h"

namespace caisson::rest {

// What one server gives to strangers, all in one place. Each limit has a test.
struct ServerLimits {
  Bytes header = KiB(16);       // the request line and all fields; more: 431
  Bytes target = KiB(8);        // path and query; more: 414
  Bytes json_body = MiB(2);     // more: 413
  Bytes file_body = MiB(16);    // more: 413
  Bytes all_bodies = MiB(256);  // of all requests together while they are read and handled; more: 503

  // Of connections at once. At the limit the one that has been idle longest gives way; when none is idle: 503.
  std::uint32_t connections = 1024;
  std::chrono::milliseconds header_time{10'000};    // from its first byte to its last; then 408
  std::chrono::milliseconds body_time{60'000};      // the same; then 408
  std::chrono::milliseconds body_silence{15'000};   // between two bytes of a body; then 408
  std::chrono::milliseconds idle{60'000};           // with no request begun; then it is closed
  std::chrono::milliseconds write_silence{60'000};  // the client takes nothing; then it is dropped

  std::uint32_t workers = 16;              // threads that call the service
  std::uint32_t waiting = 1024;            // calls that wait for one of them; more: 503
  std::uint32_t workers_of_one = 4;        // threads that one sandbox has at once; and the making of sandboxes
  std::uint32_t waiting_of_one = 256;      // calls that wait for one sandbox; more: 503
  std::chrono::milliseconds wait{10'000};  // of a call for its worker; then 503

  std::uint32_t followers = 8;                       // threads that read output and results of requests that go on
  std::chrono::milliseconds stream_silence{15'000};  // then an event stream sends a comment
  // Of output read ahead for one client as events, which are at most 256 KiB as JSON; raw bytes are not read.
  Bytes stream_piece = KiB(32);
  std::chrono::milliseconds stop_time{10'000};  // that requests have to finish when the server stops
};

}  // namespace caisson::rest
