#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <sstream>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

// FNV-1a: enough to tell the host's shadow file from a made one without printing either.
std::string Digest(const std::string& content) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : content) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3U;
  }
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

Outcome ReadCanaryAt(const Context& context, const std::string& prefix) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  const Outcome attempt = TryRead(prefix + *canary);
  // What was read goes into the report, where the suite looks for it.
  return attempt.kind == Outcome::Kind::kSucceeded ? Succeeded(Content(prefix + *canary, 64)) : attempt;
}

Outcome ReadCanary(const Context& context) { return ReadCanaryAt(context, ""); }
Outcome ReadCanaryThroughOwnRoot(const Context& context) { return ReadCanaryAt(context, "/proc/self/root"); }

Outcome ReadCanaryThroughInitRoot(const Context& context) {
  const std::string* process = context.Find("process");
  return ReadCanaryAt(context, "/proc/" + (process == nullptr ? std::string("1") : *process) + "/root");
}

Outcome ReadCanaryByDotDot(const Context& context) {
  std::string up = ".";
  for (int i = 0; i < 64; ++i) up += "/..";
  return ReadCanaryAt(context, up);
}

Outcome ReadCanaryBySymlink(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  const std::string link = scratch.File("link");
  if (::symlink(canary->c_str(), link.c_str()) != 0) return NotRun("cannot make a symlink");
  return TryRead(link);
}

Outcome WriteCanary(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  return TryOpen(*canary, O_WRONLY | O_APPEND);
}

Outcome ReadHostShadow(const Context& context) {
  const std::string* digest = context.Find("shadow-digest");
  if (digest == nullptr) return NotRun("needs --shadow-digest");
  if (const Outcome attempt = TryRead("/etc/shadow"); attempt.kind != Outcome::Kind::kSucceeded) return attempt;
  if (Digest(Content("/etc/shadow")) == *digest) return Succeeded("/etc/shadow is the host's");
  return Refused(ENODATA, "/etc/shadow is not the host's");
}

// The program lies in the workspace, which the suite mounts read-only.
std::string OwnProgram() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

Outcome CreateIn(const std::string& directory) {
  const std::string path = directory + "/escape-created";
  const os::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return Refused(errno, path);
  ::unlink(path.c_str());
  return Succeeded(path);
}

std::string Workspace() { return std::filesystem::path(OwnProgram()).parent_path().string(); }

Outcome WriteWorkspace(const Context&) { return CreateIn(Workspace()); }
Outcome WriteWorkspaceByAlias(const Context&) { return CreateIn("/proc/self/root" + Workspace()); }

Outcome RenameInWorkspace(const Context&) {
  const std::string from = OwnProgram();
  const std::string to = from + ".moved";
  if (::rename(from.c_str(), to.c_str()) != 0) return Refused(errno);
  return ::rename(to.c_str(), from.c_str()) == 0 ? Succeeded() : NotRun("cannot rename back");
}

Outcome HardLinkOutOfWorkspace(const Context&) {
  const std::string alias = "/tmp/escape-alias-" + std::to_string(::getpid());
  if (::link(OwnProgram().c_str(), alias.c_str()) != 0) return Refused(errno);
  ::unlink(alias.c_str());
  return Succeeded();
}

// One that hardly ever runs: the kernel refuses writers of a running program before it looks at the mount.
Outcome WriteSystemProgram(const Context&) { return TryOpen("/usr/bin/pinky", O_WRONLY); }

// Overlay attributes in a writable layer would steer what the next mount of it shows.
Outcome SetOverlayAttribute(const Context&) {
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  return FromReturn(::setxattr(scratch.path().c_str(), "trusted.overlay.redirect", "/etc", 4, 0));
}

Outcome SetFileCapability(const Context&) {
  const Scratch scratch;
  const std::string path = scratch.File("program");
  if (!scratch.valid() || !WriteSmallFile(path, "x")) return NotRun("no scratch file");
  // vfs_cap_data of revision 2 with CAP_CHOWN, CAP_DAC_OVERRIDE and their neighbours permitted.
  constexpr std::uint32_t kCapabilities[5] = {0x02000001U, 0xffffffffU, 0, 0, 0};
  return FromReturn(::setxattr(path.c_str(), "security.capability", kCapabilities, sizeof(kCapabilities), 0));
}

// Leaves files under a name of the suite's choice wherever it may; the suite then looks for them on the host.
Outcome DropMarkers(const Context& context) {
  const std::string* marker = context.Find("marker");
  if (marker == nullptr) return NotRun("needs --marker");
  std::string dropped;
  for (const char* directory : {"/", "/etc", "/usr/local", "/root", "/home", "/var/tmp", "/tmp", "/dev/shm"}) {
    if (WriteSmallFile(std::string(directory) + "/" + *marker, "marker")) dropped.append(" ").append(directory);
  }
  return dropped.empty() ? Refused(EACCES) : Succeeded("dropped in" + dropped);
}

}  // namespace

Probes FileProbes() {
  return {
      {"canary_read", "A1", "read a file of the host by its path", ReadCanary},
      {"canary_dotdot", "A1", "read a file of the host by climbing above the root", ReadCanaryByDotDot},
      {"canary_symlink", "A3", "read a file of the host through a planted symlink", ReadCanaryBySymlink},
      {"canary_own_root", "A16", "read a file of the host through /proc/self/root", ReadCanaryThroughOwnRoot},
      {"canary_init_root", "B8", "read a file of the host through /proc/1/root", ReadCanaryThroughInitRoot},
      {"canary_write", "A1", "open a file of the host for appending", WriteCanary},
      {"shadow_read", "A16", "read the host's password hashes", ReadHostShadow},
      {"workspace_write", "A21", "create a file in a read-only workspace", WriteWorkspace},
      {"workspace_alias_write", "A16", "the same through /proc/self/root", WriteWorkspaceByAlias},
      {"workspace_rename", "A14", "rename a file of a read-only workspace", RenameInWorkspace},
      {"workspace_hard_link", "A13", "hard link a read-only file into a writable place", HardLinkOutOfWorkspace},
      {"system_program_write", "A17", "open a program of /usr for writing", WriteSystemProgram},
      {"overlay_attribute", "A24", "set trusted.overlay.redirect on a directory", SetOverlayAttribute},
      {"file_capability", "A9", "give a file capabilities", SetFileCapability},
      {"drop_markers", "A22", "create files that must not appear on the host", DropMarkers},
  };
}

}  // namespace caisson::escape
