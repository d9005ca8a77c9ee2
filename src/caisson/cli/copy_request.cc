#include "caisson/cli/copy_request.h"

#include <optional>

#include "caisson/base/utf8.h"
#include "caisson/plan/limits.h"

namespace caisson::cli {
namespace {

struct RemotePath {
  std::string sandbox;
  std::string path;
};

std::optional<RemotePath> ParseRemote(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon) return std::nullopt;
  RemotePath remote{text.substr(0, colon), text.substr(colon + 1)};
  if (!remote.path.starts_with('/')) remote.path = Below(plan::kAgentWorkspace, remote.path);
  return remote;
}

Error NotOneRemote(const char* cause) {
  return Error(Code::kInvalidArgument, "copy needs one path of this host and one of a sandbox")
      .Because(cause)
      .Remedy("write the one of the sandbox as ID:PATH; a path of this host that holds a colon begins with ./ or /");
}

}  // namespace

std::string Below(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path + std::string(name);
}

std::string LastPart(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::string_view last = path.substr(path.rfind('/') + 1);
  return last == "." || last == ".." ? std::string() : std::string(last);
}

Result<CopyRequest> ReadCopyRequest(const CommandLine& line) {
  const std::string& source = line.operands[0];
  const std::string& destination = line.operands[1];
  std::optional<RemotePath> from = ParseRemote(source);
  std::optional<RemotePath> to = ParseRemote(destination);
  if (from && to) return Fail(NotOneRemote("both are of a sandbox"));
  if (!from && !to) return Fail(NotOneRemote("both are of this host"));
  CopyRequest request;
  request.direction = to ? CopyDirection::kIn : CopyDirection::kOut;
  RemotePath& remote = to ? *to : *from;
  request.sandbox = std::move(remote.sandbox);
  request.remote = std::move(remote.path);
  request.local = to ? source : destination;
  if (!IsUtf8(request.remote)) {
    return Fail(Error(Code::kInvalidArgument, "the path " + Quoted(request.remote) + " is not UTF-8")
                    .Because("a node takes text only")
                    .Remedy("copy the folder that it is in"));
  }
  if (destination.ends_with('/') || destination.ends_with(':')) request.target = CopyRequest::Target::kInFolder;
  return request;
}

}  // namespace caisson::cli
