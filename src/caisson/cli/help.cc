#include "caisson/cli/help.h"

#include <algorithm>

#include "caisson/cli/commands.h"
#include "caisson/cli/doctor.h"
#include "caisson/cli/version.h"

namespace caisson::cli {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kNameWidth = 26;

// `text` broken at spaces into lines that begin at the column of the explanations.
std::string Wrapped(std::string text) {
  constexpr std::size_t kTextWidth = kLineWidth - kNameWidth;
  std::string out;
  while (text.size() > kTextWidth) {
    std::size_t cut = text.rfind(' ', kTextWidth);
    if (cut == std::string::npos) cut = std::min(text.find(' '), text.size());
    out += text.substr(0, cut) + "\n" + std::string(kNameWidth, ' ');
    text.erase(0, std::min(cut + 1, text.size()));
  }
  return out + text + "\n";
}

std::string Entry(const std::string& name, std::string explanation) {
  std::string line = "  " + name;
  if (line.size() < kNameWidth) {
    line.append(kNameWidth - line.size(), ' ');
  } else {
    line += "\n" + std::string(kNameWidth, ' ');
  }
  return line + Wrapped(std::move(explanation));
}

std::string OptionEntry(const OptionInfo& info) {
  std::string name = "--" + std::string(info.name);
  if (info.metavar != nullptr) name += std::string(" ") + info.metavar;
  std::string explanation = info.help;
  if (!info.default_text.empty()) explanation += ". Default: " + info.default_text;
  if (info.environment != nullptr) explanation += " [" + std::string(info.environment) + "]";
  return Entry(name, std::move(explanation));
}

}  // namespace

std::string HelpText(CommandId command) {
  const CommandInfo& info = CommandOf(command);
  std::string text = std::string(info.summary) + ".\n\nusage: caisson " + info.usage + "\n\noptions:\n";
  for (const OptionInfo* option : OptionsOf(command)) text += OptionEntry(*option);
  text += std::string("\nexample:\n") + info.example;
  if (*info.notes != '\0') text += std::string("\n") + info.notes;
  return text;
}

std::string ProgramHelpText() {
  std::string text = "Caisson runs commands that you do not trust in fresh Linux sandboxes.\n\n";
  text += "usage: caisson COMMAND [OPTIONS]\n\ncommands:\n";
  for (const CommandInfo& info : Commands()) text += Entry(info.name, info.summary);
  text += "\nexample:\n  caisson run -- python3 -c 'print(6 * 7)'\n";
  text += "\n`caisson COMMAND --help` explains one. Values in [BRACKETS] are variables that set an option.\n";
  return text;
}

int HelpCommand(const CommandLine& line) {
  if (line.Has(Option::kHelp)) return PrintOrFail(HelpText(line.command), kSuccess, kFailed);
  const CommandInfo* topic = line.operands.empty() ? nullptr : FindCommand(line.operands.front());
  return PrintOrFail(topic != nullptr ? HelpText(topic->id) : ProgramHelpText(), kSuccess, kFailed);
}

int OverviewCommand() {
  const std::vector<os::Primitive> primitives = ExamineHost();
  std::string lacking;
  for (const os::Primitive& primitive : primitives) {
    // What is untested is so because root is missing.
    if (primitive.finding == os::Finding::kMissing) lacking += (lacking.empty() ? "" : ", ") + primitive.name;
  }
  std::string text = std::string("Caisson ") + Version() + ": ";
  text += lacking.empty() ? "this host can make sandboxes.\n"
                          : "this host cannot make sandboxes now; missing: " + lacking + "\n";
  text += "\nnext:\n";
  text += Entry("caisson run -- id", "run a command in a fresh sandbox");
  text += Entry("caisson doctor", "what this host can do, and how to fix what it lacks");
  text += Entry("caisson help run", "every option, with examples");
  return PrintOrFail(text, kSuccess, kFailed);
}

}  // namespace caisson::cli
