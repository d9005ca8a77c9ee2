#pragma once

#include <map>
#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/cli/run_request.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {

// What one `caisson create` asks for, every value checked.
struct CreateOptions {
  client::CreateRequest request;               // but for the tickets
  std::optional<std::string> image_directory;  // absent: the image `host`
  std::optional<WorkspaceFolder> workspace;
};

// A source of a value, as a node takes it: text of at most 255 bytes.
std::string ShownSource(const std::string& source);
// Where each value came from that a node may have a default for, by the node's name of it.
std::map<std::string, std::string> SourcesOf(const CommandLine& line);

// Understands the values of a `create` command line. Touches nothing outside. Errors: kInvalidArgument naming the
// option or variable and what it accepts.
Result<CreateOptions> ReadCreateOptions(const CommandLine& line);

}  // namespace caisson::cli
