#include "caisson/os/program_index.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>

#include "caisson/os/fd.h"
#include "caisson/os/program_file.h"

namespace caisson::os {
namespace {

constexpr std::size_t kMostEntries = 4'000'000;
constexpr std::size_t kMostDepth = 100;

// What programs are never called, in a tree that only the image's maker writes: most files of a large one.
constexpr std::array<std::string_view, 26> kDataEndings = {
    ".py", ".pyc", ".h",  ".hpp", ".html", ".gz",   ".png", ".svg",  ".txt", ".js", ".json", ".xml", ".md",
    ".mo", ".css", ".ts", ".go",  ".rs",   ".java", ".jar", ".yaml", ".pl",  ".pm", ".rb",   ".xz",  ".map"};

bool LooksLikeData(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && dot > 0 &&
         std::find(kDataEndings.begin(), kDataEndings.end(), name.substr(dot)) != kDataEndings.end();
}

// Some file systems do not tell types in listings.
unsigned char TypeOf(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat info{};
  if (fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(info.st_mode));
}

Fd OpenFile(int folder, const char* name, int flags) {
  return Fd(openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
}

class Walk {
 public:
  explicit Walk(ProgramIndex& index) : index_(index) {}

  // Whether there is a program in the folder or below it.
  Result<bool> Folder(int parent, const char* name, const std::string& path, std::size_t depth) {
    const auto too_large = [&] { return Fail(Error(Code::kResourceExhausted, "too many files below " + path)); };
    if (depth > kMostDepth) return too_large();
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd < 0 ? nullptr : fdopendir(fd), closedir);
    if (listing == nullptr) return false;
    std::vector<std::string> children;
    bool has_program = false;
    while (const dirent* entry = readdir(listing.get())) {
      const std::string child = entry->d_name;
      if (child == "." || child == "..") continue;
      const unsigned char type = TypeOf(dirfd(listing.get()), *entry);
      if (type == DT_LNK) continue;
      if (++entries_ > kMostEntries) return too_large();
      children.push_back(child);
      const std::string child_path = path + "/" + child;
      if (type == DT_DIR) {
        CAISSON_TRY(const bool below, Folder(dirfd(listing.get()), entry->d_name, child_path, depth + 1));
        has_program = has_program || below;
      } else if (type == DT_REG && IsProgram(dirfd(listing.get()), entry->d_name)) {
        index_.programs.push_back(child_path);
        has_program = true;
      }
    }
    if (has_program) {
      std::sort(children.begin(), children.end());
      index_.split.emplace(path, std::move(children));
    }
    return has_program;
  }

  const std::set<std::string>& loaders() const { return loaders_; }

 private:
  bool IsProgram(int folder, const char* name) {
    if (LooksLikeData(name)) return false;
    const Fd file = OpenFile(folder, name, O_NOFOLLOW);
    if (!file.valid()) return false;
    const ProgramFile read = ReadProgramFile(file.get());
    if (read.kind != ProgramKind::kProgram) return false;
    if (!read.interpreter.empty()) loaders_.insert(read.interpreter);
    return true;
  }

  ProgramIndex& index_;
  std::set<std::string> loaders_;
  std::size_t entries_ = 0;
};

// Where a path leads, and the file; nothing when it is no regular file. What is relative leads elsewhere for each
// process.
struct Led {
  Fd file;
  std::string path;
  mode_t mode = 0;
};
std::optional<Led> Follow(const std::string& path) {
  if (!path.starts_with('/')) return std::nullopt;
  Led led{.file = OpenFile(AT_FDCWD, path.c_str(), 0), .path = {}, .mode = 0};
  struct stat info{};
  if (!led.file.valid() || fstat(led.file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  led.path = PathOf(led.file);
  led.mode = info.st_mode;
  return led;
}

void AddName(const std::string& folder, const std::string& name, ProgramIndex& index) {
  const std::string path = folder + "/" + name;
  const auto led = Follow(path);
  if (!led || (led->mode & 0111U) == 0) return;
  const ProgramFile file = ReadProgramFile(led->file.get());
  if (file.kind != ProgramKind::kProgram && file.kind != ProgramKind::kScript) return;
  ProgramIndex::Entry entry{.path = path, .real_path = led->path, .interpreter = {}, .argument = {}};
  if (file.kind == ProgramKind::kScript) {
    const auto interpreter = Follow(file.interpreter);
    if (!interpreter) return;
    entry.interpreter = interpreter->path;
    entry.argument = file.argument;
  }
  index.by_name.emplace(name, std::move(entry));
}

std::vector<std::string> ChildrenOfRoot() {
  std::vector<std::string> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir("/"), closedir);
  while (const dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && TypeOf(dirfd(listing.get()), *entry) != DT_LNK) children.push_back(name);
  }
  std::sort(children.begin(), children.end());
  return children;
}

void AddSearchPath(ProgramIndex& index) {
  std::set<std::string> seen;
  for (const char* folder : kSearchFolders) {
    const Fd fd(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() || !seen.insert(PathOf(fd)).second) continue;
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder), closedir);
    if (listing == nullptr) continue;
    std::vector<std::string> names;
    while (const dirent* entry = readdir(listing.get())) names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) AddName(folder, name, index);
  }
}

}  // namespace

std::string SearchPath() {
  std::string path;
  for (const char* folder : kSearchFolders) path += (path.empty() ? "" : ":") + std::string(folder);
  return path;
}

Result<ProgramIndex> IndexPrograms() {
  ProgramIndex index;
  Walk walk(index);
  for (const char* name : kProgramFolders) {
    const std::string path = std::string("/") + name;
    struct stat info{};
    if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    index.roots.push_back(path);
    if (const auto walked = walk.Folder(AT_FDCWD, path.c_str(), path, 0); !walked) return Fail(walked.error());
  }
  index.split["/"] = ChildrenOfRoot();
  std::sort(index.programs.begin(), index.programs.end());
  std::set<std::string> loaders;
  for (const std::string& loader : walk.loaders()) {
    if (const auto led = Follow(loader)) loaders.insert(led->path);
  }
  index.loaders.assign(loaders.begin(), loaders.end());
  AddSearchPath(index);
  return index;
}

}  // namespace caisson::os
