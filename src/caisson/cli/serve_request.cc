#include "caisson/cli/serve_request.h"

#include "caisson/base/units.h"
#include "caisson/client/endpoint.h"

namespace caisson::cli {

Result<std::vector<std::string>> DaemonArguments(const CommandLine& line) {
  if (const OptionValue* socket = line.Find(Option::kSocket)) {
    if (auto endpoint = client::ParseEndpoint("unix://" + socket->text, socket->source); !endpoint) {
      return Fail(std::move(endpoint).error().Remedy("write an absolute path of at most 107 bytes"));
    }
  }
  if (const OptionValue* listen = line.Find(Option::kListen)) {
    auto endpoint = client::ParseEndpoint("http://" + listen->text, listen->source);
    if (!endpoint) {
      return Fail(
          std::move(endpoint).error().Remedy("write an address of this host and a port, such as 127.0.0.1:7777"));
    }
  }
  if (const OptionValue* idle = line.Find(Option::kIdleExit)) {
    if (auto duration = ParseDuration(idle->text, idle->source); !duration) return Fail(std::move(duration).error());
  }
  std::vector<std::string> arguments;
  for (const Option option : {Option::kSocket, Option::kListen, Option::kIdleExit}) {
    const OptionValue* given = line.Find(option);
    if (given == nullptr) continue;
    arguments.push_back("--" + std::string(OptionOf(option).name));
    arguments.push_back(given->text);
  }
  return arguments;
}

}  // namespace caisson::cli
