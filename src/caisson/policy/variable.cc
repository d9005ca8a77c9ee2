#include "caisson/policy/variable.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace caisson::policy {
namespace {

using namespace std::string_view_literals;

constexpr std::array kRefused = {
    "BROWSER"sv,
    "CARGO_BUILD_RUSTC"sv,
    "CARGO_BUILD_RUSTC_WRAPPER"sv,
    "CDPATH"sv,
    "COMPILER_PATH"sv,
    "CORECLR_PROFILER_PATH"sv,
    "DOTNET_STARTUP_HOOKS"sv,
    "EDITOR"sv,
    "ENV"sv,
    "EXECIGNORE"sv,
    "FCEDIT"sv,
    "GCC_EXEC_PREFIX"sv,
    "GCONV_PATH"sv,
    "GETCONF_DIR"sv,
    "GLOBIGNORE"sv,
    "GNUMAKEFLAGS"sv,
    "HOSTALIASES"sv,
    "IFS"sv,
    "JAVA_TOOL_OPTIONS"sv,
    "JDK_JAVA_OPTIONS"sv,
    "LESSCLOSE"sv,
    "LESSEDIT"sv,
    "LESSOPEN"sv,
    "LOCPATH"sv,
    "MAILPATH"sv,
    "MAKEFLAGS"sv,
    "MAKESHELL"sv,
    "MANPAGER"sv,
    "MFLAGS"sv,
    "NLSPATH"sv,
    "NODE_OPTIONS"sv,
    "NODE_PATH"sv,
    "OPENSSL_CONF"sv,
    "OPENSSL_ENGINES"sv,
    "OPENSSL_MODULES"sv,
    "PAGER"sv,
    "PATH"sv,
    "PERL5DB"sv,
    "PERL5LIB"sv,
    "PERL5OPT"sv,
    "PERLLIB"sv,
    "PERLIO_DEBUG"sv,
    "POSIXLY_CORRECT"sv,
    "PROMPT_COMMAND"sv,
    "PS0"sv,
    "PS1"sv,
    "PS2"sv,
    "PS3"sv,
    "PS4"sv,
    "PYTHONBREAKPOINT"sv,
    "PYTHONEXECUTABLE"sv,
    "PYTHONHOME"sv,
    "PYTHONINSPECT"sv,
    "PYTHONSTARTUP"sv,
    "RESOLV_HOST_CONF"sv,
    "RUBYLIB"sv,
    "RUBYOPT"sv,
    "RUSTC"sv,
    "RUSTC_WORKSPACE_WRAPPER"sv,
    "RUSTC_WRAPPER"sv,
    "RUSTDOC"sv,
    "SHELL"sv,
    "SHELLOPTS"sv,
    "SSH_ASKPASS"sv,
    "SUDO_ASKPASS"sv,
    "SYSTEMD_PAGER"sv,
    "TAR_OPTIONS"sv,
    "VISUAL"sv,
    "_JAVA_OPTIONS"sv,
};

constexpr std::array kRefusedBeginnings = {"BASH"sv, "LD_"sv, "MALLOC_"sv, "GLIBC_TUNABLES"sv};

constexpr std::array kOrdinaryOfGit = {"GIT_TERMINAL_PROMPT"sv, "GIT_CONFIG_NOSYSTEM"sv};
// Of npm's settings, which are variables in either case.
constexpr std::array kRefusedOfNpm = {"browser"sv,     "editor"sv,     "git"sv,          "globalconfig"sv,
                                      "init_module"sv, "node_gyp"sv,   "node_options"sv, "script_shell"sv,
                                      "shell"sv,       "userconfig"sv, "viewer"sv};

// bash evaluates what is assigned to these as arithmetic, in which a subscript may hold a command.
constexpr std::array kArithmetic = {"HISTCMD"sv, "LINENO"sv, "OPTIND"sv, "RANDOM"sv, "SECONDS"sv, "SRANDOM"sv};

template <typename Names>
bool IsIn(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsRefusedOfNpm(std::string_view name) {
  constexpr std::string_view kBeginning = "npm_config_";
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return lower.starts_with(kBeginning) && IsIn(kRefusedOfNpm, std::string_view(lower).substr(kBeginning.size()));
}

bool IsNumber(const std::optional<std::string>& value) {
  return value && value->size() <= 18 && value->find_first_not_of("0123456789") == std::string::npos;
}

// In these a byte below 0x80 is always the character that it is in ASCII, so that words end where they seem to.
bool IsPlainLocale(const std::optional<std::string>& value) {
  if (!value) return false;
  if (value->empty() || *value == "C" || *value == "POSIX") return true;
  const std::string encoding = value->substr(std::min(value->size(), value->find('.')));
  return encoding == ".UTF-8" || encoding == ".utf8" || encoding == ".utf-8";
}

}  // namespace

bool IsVariableName(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<std::string> WhyRefused(std::string_view name, const std::optional<std::string>& value) {
  if (!IsVariableName(name)) return "its name is none of a variable";
  const auto begins = [name](std::string_view beginning) { return name.starts_with(beginning); };
  const bool of_git =
      begins("GIT_") && !begins("GIT_AUTHOR_") && !begins("GIT_COMMITTER_") && !IsIn(kOrdinaryOfGit, name);
  const bool of_cargo = begins("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"));
  if (of_git || of_cargo || IsIn(kRefused, name) || IsRefusedOfNpm(name) ||
      std::any_of(kRefusedBeginnings.begin(), kRefusedBeginnings.end(), begins)) {
    return "it can make a listed program start or load another one";
  }
  if (IsIn(kArithmetic, name) && !IsNumber(value)) return "bash evaluates what it is set to";
  if ((begins("LC_") || name == "LANG") && !IsPlainLocale(value)) {
    return "another encoding than UTF-8 can give the words of a command another meaning";
  }
  return std::nullopt;
}

}  // namespace caisson::policy
