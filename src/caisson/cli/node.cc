#include "caisson/cli/node.h"

#include "caisson/cli/daemon_start.h"
#include "caisson/client/connect.h"
#include "caisson/os/identity.h"
#include "caisson/os/program_folder.h"
#include "caisson/sandbox/sandboxes.h"

namespace caisson::cli {

Result<NodeAddress> ReadNodeAddress(const CommandLine& line, const Environment& environment) {
  const char* key = environment("CAISSON_KEY");
  const OptionValue* host = line.Find(Option::kHost);
  NodeAddress address;
  if (host != nullptr) address.chosen = NodeAddress::Chosen::kByCaller;
  CAISSON_TRY(address.endpoint,
              client::ParseEndpoint(host == nullptr ? client::kDefaultEndpoint : std::string_view(host->text),
                                    host == nullptr ? "--host" : host->source, key == nullptr ? "" : key));
  return address;
}

Result<bool> NodeAnswers(const client::Endpoint& endpoint) {
  const Result<os::Fd> connection = client::Connect(endpoint, Deadline::In(std::chrono::seconds(5)));
  if (connection) return true;
  if (connection.error().code() == Code::kUnavailable) return false;
  return Fail(connection.error());
}

Result<std::optional<NodeAddress>> NodeIfAny(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(NodeAddress address, ReadNodeAddress(line, environment));
  if (address.chosen == NodeAddress::Chosen::kByCaller) return std::optional(std::move(address));
  // Who may not even ask has no node; what follows says so better.
  const Result<bool> answers = NodeAnswers(address.endpoint);
  return answers && *answers ? std::optional(std::move(address)) : std::nullopt;
}

Result<client::Endpoint> ReachNode(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(NodeAddress address, ReadNodeAddress(line, environment));
  if (address.chosen == NodeAddress::Chosen::kByCaller) return std::move(address.endpoint);
  CAISSON_CHECK_OK(os::RequireRoot("use the daemon of this host"));
  CAISSON_TRY(const bool answers, NodeAnswers(address.endpoint));
  if (answers) return std::move(address.endpoint);
  CAISSON_TRY(const std::string folder, os::ProgramFolder());
  CAISSON_CHECK_OK(StartDaemon({.program = folder + "/caisson",
                                .arguments = {"serve", "--idle-exit", "15m"},
                                .folder = sandbox::kRuntimeDirectory,
                                .endpoint = address.endpoint}));
  return std::move(address.endpoint);
}

}  // namespace caisson::cli
