#include "caisson/sandbox/command_request.h"

#include <algorithm>
#include <string_view>

namespace caisson::sandbox {
namespace {

Status CheckText(std::string_view text, const char* what) {
  if (text.find('\0') != std::string_view::npos) {
    return Fail(Error(Code::kInvalidArgument, std::string(what) + " holds a zero byte"));
  }
  if (text.size() > kMaxArgument) {
    return Fail(Error(Code::kInvalidArgument, std::string(what) + " is longer than 128 KiB")
                    .Because("the kernel takes no longer ones")
                    .Remedy("pass it as standard input or in a file"));
  }
  return {};
}

Status CheckSize(const CommandSpec& spec, const proto::StartCommand& request) {
  std::size_t total = 0;
  for (const std::string& argument : request.argv()) total += argument.size() + 1;
  for (const std::string& variable : request.env()) total += variable.size() + 1;
  if (total > kMaxArguments) {
    return Fail(Error(Code::kInvalidArgument, "the arguments and variables are larger than 1 MiB together")
                    .Remedy("pass data as standard input or in a file"));
  }
  if (spec.env.size() > kMaxVariables) {
    return Fail(Error(Code::kInvalidArgument, "there are more than 10,000 variables")
                    .Remedy("pass data as standard input or in a file"));
  }
  return {};
}

Status AddEnvironment(const CommandSpec& spec, proto::StartCommand& request) {
  auto environment = FixedEnvironment(spec.user, spec.terminal.has_value());
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return Fail(Error(Code::kInvalidArgument, "a variable's name is empty or holds '='"));
    }
    CAISSON_CHECK_OK(CheckText(name + "=" + value, "a variable"));
    const auto same = std::find_if(environment.begin(), environment.end(),
                                   [&, &wanted = name](const auto& entry) { return entry.first == wanted; });
    if (same != environment.end()) {
      same->second = value;
    } else {
      environment.emplace_back(name, value);
    }
    if (environment.size() > kMaxVariables + 100) break;  // CheckSize refuses it; no quadratic search before
  }
  for (const auto& [name, value] : environment) request.add_env(name + "=" + value);
  return {};
}

}  // namespace

std::uint32_t IdOf(User user) { return user == User::kRoot ? 0 : plan::kAgentId; }

std::vector<std::pair<std::string, std::string>> FixedEnvironment(User user, bool has_terminal) {
  const bool root = user == User::kRoot;
  std::vector<std::pair<std::string, std::string>> environment = {
      {"PATH", root ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                    : "/home/agent/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"},
      {"HOME", root ? "/root" : plan::kAgentHome},
      {"USER", root ? "root" : "agent"},
      {"LOGNAME", root ? "root" : "agent"},
      {"SHELL", "/bin/sh"},
      {"LANG", "C.UTF-8"},
      {"TZ", "UTC"},
      {"PYTHONUNBUFFERED", "1"},
      {"PYTHONIOENCODING", "utf-8"},
  };
  if (has_terminal) environment.emplace_back("TERM", "xterm-256color");
  return environment;
}

Result<proto::StartCommand> MakeStartCommand(const CommandSpec& spec) {
  proto::StartCommand request;
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return Fail(Error(Code::kInvalidArgument, "there is no command to run"));
  }
  for (const std::string& argument : spec.argv) {
    CAISSON_CHECK_OK(CheckText(argument, "an argument"));
    request.add_argv(argument);
  }
  if (spec.env.size() > kMaxVariables) CAISSON_CHECK_OK(CheckSize(spec, request));
  CAISSON_CHECK_OK(AddEnvironment(spec, request));
  CAISSON_CHECK_OK(CheckText(spec.cwd, "the working directory"));
  CAISSON_CHECK_OK(CheckSize(spec, request));
  request.set_cwd(spec.cwd);
  request.set_id(IdOf(spec.user));
  if (spec.terminal) {
    request.mutable_terminal()->set_rows(spec.terminal->rows);
    request.mutable_terminal()->set_columns(spec.terminal->columns);
  }
  return request;
}

}  // namespace caisson::sandbox
