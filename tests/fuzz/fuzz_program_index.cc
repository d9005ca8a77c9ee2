// What a sandbox's image says can be executed: a file that the host looks into, and the list that a guest sends, from
// which rights are given. Input: the file as a text, then the message.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "caisson/guest/program_index_message.h"
#include "caisson/os/fd.h"
#include "caisson/os/program_file.h"
#include "caisson/policy/compile.h"
#include "caisson/sandbox/program_index_reply.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace os = caisson::os;
namespace policy = caisson::policy;

void ReadFile(std::string_view bytes) {
  const os::Fd file(memfd_create("program", MFD_CLOEXEC));
  Require(file.valid() && os::WriteAll(file.get(), bytes).has_value(), "a file can be made");
  const os::ProgramFile read = os::ReadProgramFile(file.get());
  Require(read.interpreter.find('\0') == std::string::npos, "an interpreter is a path that can be opened");
  Require(read.interpreter.size() <= 4096, "a path is no longer than the kernel takes");
  if (read.kind == os::ProgramKind::kNone) {
    Require(read.interpreter.empty() && read.argument.empty(), "what is no program needs none");
  } else if (read.kind == os::ProgramKind::kScript) {
    Require(bytes.starts_with("#!") && !read.interpreter.empty(), "a script names its interpreter");
    Require(read.interpreter.size() + read.argument.size() < 255, "a script says no more than the kernel reads");
    Require(read.argument.find_first_of(" \t\n") == std::string::npos, "an argument is one word");
  } else {
    Require(bytes.starts_with("\x7F"
                              "ELF") &&
                read.argument.empty(),
            "a program is an ELF file");
  }
}

bool IsNormal(const std::string& path) {
  const std::string whole = path + "/";
  return path.starts_with('/') && path.find('\0') == std::string::npos && whole.find("/../") == std::string::npos;
}

// Nothing but what the policy names, its helpers and the loaders can be executed, whatever the list says.
void Compile(const os::ProgramIndex& index) {
  static const policy::Policy kMinimal = *policy::Policy::Preset("minimal");
  const auto plan = policy::Compile(kMinimal, index, {}, {});
  if (!plan) return;
  Require(plan->has_value(), "a policy that refuses something has a plan");
  for (const caisson::plan::FileGrant& grant : (*plan)->grants) {
    Require(IsNormal(grant.path), "a right is given by a path of the image");
    const bool is_whole = grant.path == "/" && grant.reach == caisson::plan::FileGrant::Reach::kBelow;
    Require(!is_whole || grant.rights == caisson::plan::kReadFolder, "the root gives names and nothing else");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  ReadFile(input.TakeText());
  const auto index = caisson::sandbox::ReadProgramIndex(input.TakeRest());
  if (!index) return 0;
  Require(std::is_sorted(index->programs.begin(), index->programs.end()), "programs are found by searching");
  Require(std::all_of(index->programs.begin(), index->programs.end(), IsNormal), "a program has a path");
  const auto again = caisson::sandbox::ReadProgramIndex(caisson::guest::WriteProgramIndex(*index).SerializeAsString());
  Require(again && *again == *index, "what is written is read");
  Compile(*index);
  return 0;
}
