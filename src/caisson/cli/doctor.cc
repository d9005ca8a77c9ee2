#include "caisson/cli/doctor.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/terminal.h"
#include "caisson/os/program_folder.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

os::Primitive ExaminePrograms() {
  const Result<std::string> folder = os::ProgramFolder();
  std::string absent;
  for (const char* name : {"caisson-launcher"}) {
    const bool found = folder && access((*folder + "/" + name).c_str(), X_OK) == 0;
    if (!found) absent += (absent.empty() ? "" : " and ") + std::string(name);
  }
  if (absent.empty()) return {"programs", os::Finding::kOk, "in " + *folder, "", ""};
  return {"programs", os::Finding::kMissing, absent + " not found", "no sandbox can be made",
          "put them into the folder of caisson"};
}

const char* ColourOf(os::Finding finding) {
  if (finding == os::Finding::kOk) return "\033[32m";
  return finding == os::Finding::kDegraded ? "\033[33m" : "\033[31m";
}

std::string Padded(std::string_view text, std::size_t width) {
  std::string padded(text);
  if (padded.size() < width) padded.append(width - padded.size(), ' ');
  return padded;
}

}  // namespace

std::vector<os::Primitive> ExamineHost() {
  std::vector<os::Primitive> primitives = os::ProbeHost();
  primitives.push_back(ExaminePrograms());
  return primitives;
}

std::string DoctorTable(const std::vector<os::Primitive>& primitives, Colour colour) {
  constexpr std::size_t kStatusWidth = 10;
  constexpr std::size_t kNameWidth = 29;
  const std::string indent(kStatusWidth, ' ');
  std::string text = "kernel " + os::KernelRelease() + "\n\n";
  for (const os::Primitive& primitive : primitives) {
    const std::string status = Padded(os::FindingName(primitive.finding), kStatusWidth);
    text += colour == Colour::kYes ? ColourOf(primitive.finding) + status + "\033[0m" : status;
    text += Padded(primitive.name, kNameWidth) + Printable(primitive.found) + "\n";
    if (!primitive.cost.empty()) text += indent + "  cost: " + Printable(primitive.cost) + "\n";
    if (!primitive.remedy.empty()) text += indent + "  fix:  " + Printable(primitive.remedy) + "\n";
  }
  text += os::CanMakeSandboxes(primitives) ? "\nThis host can make sandboxes (tier process).\n"
                                           : "\nThis host cannot make sandboxes.\n";
  return text;
}

std::string DoctorJson(const std::vector<os::Primitive>& primitives) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? boost::json::value(nullptr) : boost::json::value(text);
  };
  boost::json::array list;
  for (const os::Primitive& primitive : primitives) {
    boost::json::object entry;
    entry["name"] = primitive.name;
    entry["status"] = std::string(os::FindingName(primitive.finding));
    entry["found"] = primitive.found;
    entry["cost"] = text_or_null(primitive.cost);
    entry["remedy"] = text_or_null(primitive.remedy);
    list.push_back(std::move(entry));
  }
  const bool can_run = os::CanMakeSandboxes(primitives);
  boost::json::array tiers;
  if (can_run) tiers.emplace_back("process");
  boost::json::object report;
  report["can_run"] = can_run;
  report["kernel"] = os::KernelRelease();
  report["tiers"] = std::move(tiers);
  report["primitives"] = std::move(list);
  return wire::JsonLine(report);
}

int DoctorCommand(const CommandLine& line, const Environment& environment) {
  const std::vector<os::Primitive> primitives = ExamineHost();
  const char* no_colour = environment("NO_COLOR");
  const bool colourful = IsTerminal(STDOUT_FILENO) && (no_colour == nullptr || *no_colour == '\0');
  const std::string report = line.Has(Option::kJson) ? DoctorJson(primitives)
                                                     : DoctorTable(primitives, colourful ? Colour::kYes : Colour::kNo);
  return PrintOrFail(report, os::CanMakeSandboxes(primitives) ? kSuccess : kNegativeAnswer, kFailed);
}

}  // namespace caisson::cli
