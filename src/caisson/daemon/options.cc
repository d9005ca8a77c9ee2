#include "caisson/daemon/options.h"

#include <string_view>

#include "caisson/base/units.h"

namespace caisson::daemon {
namespace {

Result<std::uint16_t> ReadListen(const std::string& text) {
  constexpr std::string_view kLoopback = "127.0.0.1:";
  if (!text.starts_with(kLoopback)) {
    return Fail(Error(Code::kInvalidArgument, "--listen takes 127.0.0.1:PORT, not " + text)
                    .Because("what is said there is not encrypted")
                    .Remedy("put a proxy that speaks TLS in front for other machines"));
  }
  constexpr std::uint64_t kLastPort = 65535;
  CAISSON_TRY(const std::uint64_t port, ParseCount(text.substr(kLoopback.size()), "--listen's port", 0, kLastPort));
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<Options> ReadOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    if (i + 1 == arguments.size()) return Fail(Error(Code::kInvalidArgument, name + " lacks its value"));
    const std::string& value = arguments[i + 1];
    if (name == "--socket") {
      options.socket = value;
    } else if (name == "--listen") {
      CAISSON_TRY(options.tcp_port, ReadListen(value));
    } else if (name == "--idle-exit") {
      CAISSON_TRY(options.idle_exit, ParseDuration(value, "--idle-exit"));
    } else if (name == "--data") {
      options.data_directory = value;
    } else if (name == "--runtime") {
      options.runtime_directory = value;
    } else {
      return Fail(Error(Code::kInvalidArgument, "there is no option " + name)
                      .Remedy("the daemon is started by: caisson serve"));
    }
  }
  return options;
}

}  // namespace caisson::daemon
