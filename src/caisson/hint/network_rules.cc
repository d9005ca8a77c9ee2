#include <array>
#include <string>
#include <string_view>

#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

// What programs say before the name that they cannot resolve: curl and git, wget, apt, npm (twice), ssh, Go.
constexpr std::array<std::string_view, 8> kBeforeHost = {
    "ould not resolve host: ", "nable to resolve host address ", "ould not resolve '", "getaddrinfo EAI_AGAIN ",
    "getaddrinfo ENOTFOUND ",  "ould not resolve hostname ",     "dial tcp: lookup ",  "name resolution of "};

std::optional<std::string_view> HostIn(std::string_view line) {
  for (const std::string_view phrase : kBeforeHost) {
    const std::size_t at = line.find(phrase);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = WithoutQuotes(line.substr(at + phrase.size()));
    return rest.substr(0, rest.find_first_of(" '\":,;()"));
  }
  return std::nullopt;
}

// The name of the host, empty when the line does not say it.
std::optional<std::string_view> UnreachableIn(std::string_view line) {
  if (const auto host = HostIn(line)) return host;
  const auto phrase =
      FindPhrase(line, {"Temporary failure in name resolution", "Name or service not known", "Network is unreachable",
                        "No route to host", "ENETUNREACH", "EAI_AGAIN", "Failed to establish a new connection"});
  if (!phrase) return std::nullopt;
  return std::string_view();
}

}  // namespace

std::optional<Hint> NetworkBlocked(const Evidence& evidence) {
  if (evidence.network != Network::kNone) return std::nullopt;
  const std::string text = Complaints(evidence);
  const auto host = LastAnswer(text, UnreachableIn);
  if (!host) return std::nullopt;
  return Hint{.code = "network_blocked",
              .message = "The sandbox has no network" +
                         (host->empty() ? std::string() : ", so " + Named(*host) + " cannot be reached") + ".",
              .suggestion = "Fetch what it needs outside and pass it in with --workspace DIR."};
}

}  // namespace caisson::hint
