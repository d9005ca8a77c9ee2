#include "fault/fault_judge.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "support/caisson_run.h"
#include "support/temp_folder.h"

namespace caisson::fault {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kDataFolder = "/var/lib/caisson";
constexpr const char* kScript = "echo changed > ~/made && echo told";
// What is gone late, such as a cgroup that the kernel still empties.
constexpr std::chrono::seconds kRestPatience{3};

// What a sandbox has in the data folder, and nobody but a sandbox.
std::set<std::string> DataOfSandboxes() {
  std::set<std::string> found;
  for (const char* name : {"images", "sandboxes", "copies", "spool", "store/layers", "store/snapshots"}) {
    std::error_code error;
    const fs::path folder = fs::path(kDataFolder) / name;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const bool is_finished_image =
          folder.filename() == "images" && entry.path().string().find(".new.") == std::string::npos;
      if (!is_finished_image) found.insert(entry.path());
    }
  }
  return found;
}

std::string LeftBehind(const support::HostState& before, std::chrono::milliseconds patience) {
  std::string text;
  for (const std::string& item : support::AwaitNothingNew(before, patience)) text += " [" + item + "]";
  for (const std::string& path : DataOfSandboxes()) text += " [" + path + "]";
  return text;
}

// The lines of one text that the other one lacks.
std::string Difference(const std::string& wanted, const std::string& actual) {
  const auto lines = [](const std::string& text) {
    std::multiset<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.insert(line);
    return all;
  };
  const auto ours = lines(wanted);
  const auto theirs = lines(actual);
  std::vector<std::string> lost;
  std::vector<std::string> gained;
  std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(lost));
  std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(), std::back_inserter(gained));
  std::string text;
  for (const std::string& line : lost) text += " -{" + line + "}";
  for (const std::string& line : gained) text += " +{" + line + "}";
  return text;
}

json::object ParseObject(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text.substr(0, text.find('\n')), error);
  return !error && value.is_object() ? value.get_object() : json::object();
}

std::string TextOf(const json::object& object, const char* key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

constexpr const char* kCodes[] = {
    "permission_denied",  "not_found",   "already_exists",    "conflict",         "unavailable",
    "resource_exhausted", "unsupported", "deadline_exceeded", "invalid_argument", "internal"};

// An error with one of the codes, which says what could not be done. Empty when it is none.
// The error is the last line: the loader of a program that cannot start says so before it.
std::string NamedError(const std::string& err) {
  const std::size_t last = err.find_last_not_of('\n');
  const std::size_t begin = err.rfind('\n', last);
  const json::object whole = ParseObject(begin < last ? err.substr(begin + 1) : err);
  const json::value* const found = whole.if_contains("error");
  if (found == nullptr || !found->is_object()) return {};
  const json::object& error = found->get_object();
  const std::string code = TextOf(error, "code");
  const std::string message = TextOf(error, "message");
  if (std::find(std::begin(kCodes), std::end(kCodes), code) == std::end(kCodes) || message.empty()) return {};
  const std::string cause = TextOf(error, "cause");
  return code + ": " + message + (cause.empty() ? "" : " (" + cause + ")");
}

// What a `run --json` that went well must print.
std::string WrongResult(const std::string& out) {
  const json::object result = ParseObject(out);
  if (TextOf(result, "outcome") != "exited" || TextOf(result, "stdout") != "told\n") return "a wrong result: " + out;
  const json::value* const changes = result.if_contains("files_changed");
  if (changes != nullptr && changes->is_null()) return {};  // says that it is not known
  const json::value* const is_cut = result.if_contains("files_changed_truncated");
  if (is_cut != nullptr && is_cut->is_bool() && is_cut->get_bool()) return {};  // says that there is more
  if (changes == nullptr || !changes->is_array() || changes->get_array().size() != 1) return "wrong changes: " + out;
  return {};
}

// Guest, launcher and storage process are there while a command runs. When one breaks then, that must be said.
bool SaysThatItMayHaveRun(const std::string& role, const std::string& error) {
  if (role != "guest" && role != "launcher" && role != "storage") return false;
  return error.find("the command may have begun") != std::string::npos ||
         error.find("the sandbox ended while the command ran") != std::string::npos;
}

std::vector<std::string> FinishedImages() {
  std::vector<std::string> images;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(kDataFolder) / "images", error)) {
    if (entry.path().string().find(".new.") == std::string::npos) images.push_back(entry.path());
  }
  return images;
}

// A line for each file: path, type, mode, owner, size and target.
std::string ContentOf(const std::string& image) {
  return support::RunProgram({.argv = {"find", image, "-printf", "%P %y %m %U %s %l\\n"}}).out;
}

std::vector<std::string> KeptSandboxes() {
  const json::object found = ParseObject(support::RunProgram({.argv = {support::CaissonPath(), "df", "--json"}}).out);
  std::vector<std::string> ids;
  for (const json::value& item : found.at("items").as_array()) {
    const json::object& entry = item.as_object();
    if (TextOf(entry, "kind") == "layer" && TextOf(entry, "state") == "kept") ids.push_back(TextOf(entry, "name"));
  }
  return ids;
}

// What is wrong with the deletion; empty: nothing.
std::string DeleteKept() {
  std::string wrong;
  for (const std::string& id : KeptSandboxes()) {
    const support::Ended deleted = support::RunProgram({.argv = {support::CaissonPath(), "delete", id}});
    if (deleted.status != 0) wrong += "cannot be deleted: " + deleted.err;
  }
  return wrong;
}

bool IsExecOfCommand(const CallSite& site) { return site.role == "command"; }

}  // namespace

bool EnterArena(const std::string& folder) {
  if (mkdir(kDataFolder, 0711) != 0 && errno != EEXIST) return false;
  return unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         chmod(folder.c_str(), 0711) == 0 && mount(folder.c_str(), kDataFolder, nullptr, MS_BIND, nullptr) == 0;
}

Judge::Judge(const support::StorageDriver& storage, Scenario scenario)
    : scenario_(std::move(scenario)), storage_(storage.name) {
  why_not_ = support::WhyMissing(storage.storage);
  if (!why_not_.empty()) return;
  // Makes what stands between runs.
  const support::Ended first = support::RunProgram({.argv = Arguments()});
  if (first.status != 0) {
    fault_ = "without a fault it fails: " + first.err;
    return;
  }
  DeleteKept();
  before_ = support::ReadHostState();
  const TracedRun run = Run(std::nullopt);
  DeleteKept();
  const std::vector<std::string> images = FinishedImages();
  image_ = images.empty() ? "" : ContentOf(images.front());
  calls_ = run.calls;
  posture_ = run.posture.value_or("");
  if (run.status != 0 || posture_.empty() || !run.crashes.empty()) {
    fault_ = "followed by this test, without a fault, it ends with " + std::to_string(run.status) + ": " + run.err;
  }
  for (const char* part : {"command NoNewPrivs 1\n", "command Seccomp 2\n", "command CapEff 0000000000000000\n",
                           "command is restricted\n", "guest NoNewPrivs 1\n"}) {
    if (posture_.find(part) == std::string::npos) fault_ = std::string("without a fault it lacks ") + part + posture_;
  }
}

std::vector<std::string> Judge::Arguments() const {
  std::vector<std::string> arguments = {support::CaissonPath(), "run", "--json", "--quiet", "--storage", storage_};
  arguments.insert(arguments.end(), scenario_.options().begin(), scenario_.options().end());
  for (const char* argument : {"--", "sh", "-c", kScript}) arguments.emplace_back(argument);
  return arguments;
}

TracedRun Judge::Run(const std::optional<Injection>& injection) const {
  if (scenario_.makes_image()) {
    for (const std::string& image : FinishedImages()) fs::remove_all(image);
  }
  return RunTraced(Arguments(), injection);
}

Judged Judge::Try(const Injection& injection) {
  Judged judged;
  const TracedRun run = Run(injection);
  std::string wrong = JudgeRun(run, judged);
  if (wrong.empty() && judged.verdict == Verdict::kRefused && run.posture && !IsExecOfCommand(injection.site) &&
      !SaysThatItMayHaveRun(injection.site.role, judged.text)) {
    wrong = "refused after a command had run: " + judged.text;
  }
  if (wrong.empty()) wrong = JudgeImages();
  if (wrong.empty() && scenario_.keeps()) wrong = JudgeKept(judged);
  const std::string rest = JudgeRest(judged);
  if (!rest.empty()) wrong += (wrong.empty() ? "" : "; ") + rest;
  if (!wrong.empty()) {
    judged.verdict = Verdict::kWrong;
    judged.text = wrong;
  } else if (!run.injected) {
    judged.verdict = Verdict::kNotReached;
  }
  return judged;
}

std::string Judge::JudgeRun(const TracedRun& run, Judged& judged) const {
  if (run.hung) return "hung";
  std::string crashes;
  for (const std::string& crash : run.crashes) crashes += " " + crash;
  if (!crashes.empty()) return "crashed:" + crashes;
  const std::string difference = run.posture ? Difference(posture_, *run.posture) : std::string();
  if (!difference.empty()) return "another confinement:" + difference;
  if (run.status == 0) {
    judged.verdict = Verdict::kSucceeded;
    return run.posture ? WrongResult(run.out) : "a success without a command";
  }
  judged.verdict = Verdict::kRefused;
  judged.text = NamedError(run.err);
  if (judged.text.empty() && ParseObject(run.out).if_contains("outcome") != nullptr) {
    // A command that could not be started is an outcome.
    const json::object result = ParseObject(run.out);
    judged.text = TextOf(result, "outcome") == "failed_to_start" ? "failed_to_start: " + run.out : "";
  }
  if (judged.text.empty())
    return "status " + std::to_string(run.status) + " without a named error: " + run.out + run.err;
  return {};
}

// An image serves all runs that follow: it is whole, or there is none.
std::string Judge::JudgeImages() const {
  std::string wrong;
  for (const std::string& image : FinishedImages()) {
    const std::string difference = Difference(image_, ContentOf(image));
    if (!difference.empty()) wrong += "an image that is not whole:" + difference.substr(0, 400);
  }
  return wrong;
}

// A sandbox that is kept tells of its changes, and can be deleted; a run that says it went well has kept one.
std::string Judge::JudgeKept(const Judged& judged) const {
  const std::vector<std::string> kept = KeptSandboxes();
  if (kept.empty()) return judged.verdict == Verdict::kSucceeded ? "a success that kept nothing" : "";
  const support::Ended diff = support::RunProgram({.argv = {support::CaissonPath(), "diff", kept.front()}});
  if (judged.verdict == Verdict::kSucceeded && (diff.status != 0 || diff.out.find("made") == std::string::npos))
    return "what was kept lacks the change: " + diff.out + diff.err;
  return DeleteKept();
}

// What lies about once all processes have ended is allowed only if a collection finds it.
std::string Judge::JudgeRest(Judged& judged) const {
  if (LeftBehind(before_, {}).empty()) return {};
  const std::string rest = LeftBehind(before_, kRestPatience);
  if (rest.empty()) return {};
  judged.collected = true;
  const support::Ended pruned = support::RunProgram({.argv = {support::CaissonPath(), "prune"}});
  const std::string leak = LeftBehind(before_, kRestPatience);
  if (leak.empty()) return {};
  return "left behind, and not collected:" + leak + " prune: " + pruned.out + pruned.err;
}

}  // namespace caisson::fault
