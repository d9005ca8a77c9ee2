#include "caisson/cli/copy_out.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "caisson/base/id.h"
#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

constexpr int kDeepest = 256;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// The caller's mask; for one thread.
mode_t Mask() {
  const mode_t mask = umask(077);
  (void)umask(mask);
  return mask;
}

mode_t Kept(std::uint32_t mode) { return static_cast<mode_t>(mode) & 0777U & ~Mask(); }

Error CannotWrite(int error, const std::string& name) {
  return Error::FromErrno(error, "cannot write " + Quoted(name));
}

// A file that has no name yet under which it is looked for; removed unless it was given one.
class NewFile {
 public:
  explicit NewFile(const os::Fd& folder) : folder_(folder), name_(".caisson-" + SandboxId::Random().text()) {
    file_ = os::Fd(openat(folder.get(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_.valid()) (void)unlinkat(folder_.get(), name_.c_str(), 0);
  }
  const os::Fd& file() const { return file_; }
  // Takes the place of what has this name, also of a symbolic link.
  bool Rename(const std::string& name) {
    if (renameat(folder_.get(), name_.c_str(), folder_.get(), name.c_str()) != 0) return false;
    file_.Reset();
    return true;
  }

 private:
  const os::Fd& folder_;
  std::string name_;
  os::Fd file_;
};

}  // namespace

bool IsEntryName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Status CopyOut::Run() {
  CAISSON_TRY(const Place place, Target(LastPart(request_.remote)));
  const Result<std::vector<client::FileEntry>> entries = client::ListFolder(http_, request_.sandbox, request_.remote);
  if (entries) {
    if (place.name.empty()) return Entries(place.folder, request_.remote, 0);
    return Folder(place.folder, place.name, request_.remote, ModeOf(request_.remote, 0755), 0);
  }
  if (entries.error().code() != Code::kInvalidArgument && entries.error().code() != Code::kNotFound) {
    return Fail(entries.error());
  }
  if (place.name.empty()) return Fail(entries.error());
  return File(place.folder, place.name, request_.remote, ModeOf(request_.remote, 0644));
}

// The folder of this host, and the name there; an empty one for the folder itself.
Result<CopyOut::Place> CopyOut::Target(const std::string& name) const {
  os::Fd folder(open(request_.local.c_str(), kFolder));
  if (folder.valid()) return Place{std::move(folder), name};
  if (errno != ENOENT && errno != ENOTDIR) return Fail(CannotWrite(errno, request_.local));
  if (request_.target == CopyRequest::Target::kInFolder) return Fail(CannotWrite(errno, request_.local));
  const std::size_t slash = request_.local.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : request_.local.substr(0, slash + 1);
  Place place{os::Fd(open(parent.c_str(), kFolder)), request_.local.substr(slash + 1)};
  if (!place.folder.valid() || !IsEntryName(place.name)) return Fail(CannotWrite(ENOENT, request_.local));
  return place;
}

// What the folder above says of it.
std::uint32_t CopyOut::ModeOf(const std::string& remote, std::uint32_t otherwise) {
  const std::string name = LastPart(remote);
  const std::string above =
      remote.substr(0, std::max<std::size_t>(remote.find_last_of('/', remote.find_last_not_of('/')), 1));
  const auto entries = client::ListFolder(http_, request_.sandbox, above);
  if (!entries) return otherwise;
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const client::FileEntry& entry) {
    return entry.name == name && (entry.type == "file" || entry.type == "directory");
  });
  return found == entries->end() ? otherwise : found->mode;
}

Status CopyOut::File(const os::Fd& into, const std::string& name, const std::string& remote, std::uint32_t mode) {
  NewFile made(into);
  if (!made.file().valid()) return Fail(CannotWrite(errno, name));
  CAISSON_CHECK_OK(Content(made.file(), remote));
  if (fchmod(made.file().get(), Kept(mode)) != 0 || !made.Rename(name)) return Fail(CannotWrite(errno, name));
  return {};
}

Status CopyOut::Content(const os::Fd& file, const std::string& remote) {
  std::uint64_t offset = 0;
  while (true) {
    Result<client::FilePart> part = client::ReadFile(http_, request_.sandbox, remote, offset);
    if (!part) return Fail(std::move(part).error().Context("reading " + Quoted(remote)));
    CAISSON_CHECK_OK(os::WriteAll(file.get(), part->bytes));
    offset += part->bytes.size();
    if (offset >= part->size_bytes || part->bytes.empty()) break;
  }
  report_.Copied(offset);
  return {};
}

Status CopyOut::Folder(const os::Fd& into, const std::string& name, const std::string& remote, std::uint32_t mode,
                       int depth) {
  if (depth > kDeepest) {
    report_.LeftOut(remote, "folders are nested too deep");
    return {};
  }
  const bool is_new = mkdirat(into.get(), name.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) return Fail(CannotWrite(errno, name));
  const os::Fd folder(openat(into.get(), name.c_str(), kFolder | O_NOFOLLOW));
  if (!folder.valid()) return Fail(CannotWrite(errno, name));
  CAISSON_CHECK_OK(Entries(folder, remote, depth));
  // At the end: it may take the right to write from its owner.
  if (is_new && fchmod(folder.get(), Kept(mode)) != 0) return Fail(CannotWrite(errno, name));
  return {};
}

Status CopyOut::Entries(const os::Fd& into, const std::string& remote, int depth) {
  CAISSON_TRY(const std::vector<client::FileEntry> entries, client::ListFolder(http_, request_.sandbox, remote));
  for (const client::FileEntry& entry : entries) {
    const std::string path = Below(remote, entry.name);
    if (!IsEntryName(entry.name)) {
      report_.LeftOut(path, "no entry can have this name");
    } else if (!IsUtf8(entry.name)) {
      report_.LeftOut(path, "its name is not UTF-8");
    } else if (entry.type != "file" && entry.type != "directory") {
      report_.LeftOut(path, entry.type == "symlink" ? "a symbolic link" : "no file and no folder");
    } else {
      const Status done = entry.type == "file" ? File(into, entry.name, path, entry.mode)
                                               : Folder(into, entry.name, path, entry.mode, depth + 1);
      if (!done && !report_.Passes(done.error())) return done;
    }
  }
  return {};
}

}  // namespace caisson::cli
