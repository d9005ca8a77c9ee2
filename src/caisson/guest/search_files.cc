#include "caisson/guest/search_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"
#include "caisson/guest/failed_reply.h"
#include "caisson/guest/folder_stream.h"
#include "caisson/guest/line_search.h"
#include "caisson/guest/path_glob.h"
#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

constexpr int kReading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr const char* kGit = ".git";

enum class Kind { kFile, kFolder, kOther };

Kind KindOf(mode_t mode) { return S_ISREG(mode) ? Kind::kFile : S_ISDIR(mode) ? Kind::kFolder : Kind::kOther; }

Kind KindOf(int folder, const dirent& entry) {
  struct stat info{};
  switch (entry.d_type) {
    case DT_REG:
      return Kind::kFile;
    case DT_DIR:
      return Kind::kFolder;
    case DT_UNKNOWN:
      return fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? KindOf(info.st_mode) : Kind::kOther;
    default:
      return Kind::kOther;
  }
}

bool IsInGit(const std::string& path) {
  const std::string place = os::PathOf(os::Fd(open(path.c_str(), O_PATH | O_CLOEXEC))) + "/";
  return place.find(std::string("/") + kGit + "/") != std::string::npos;
}

struct Name {
  std::string text;
  Kind kind;
  bool operator<(const Name& other) const { return text < other.text; }
};

class Search {
 public:
  Search(const proto::SearchFiles& request, LineSearch& lines, const PathGlob& glob)
      : limit_(static_cast<int>(request.limit())), lines_(lines), glob_(glob) {}

  void File(int file, const std::string& path) {
    struct stat info{};
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return Skip();
    const auto outcome = lines_.Search(file, static_cast<std::uint64_t>(info.st_size), deadline_,
                                       [&](const LineSearch::Line& line) { return Add(path, line); });
    if (outcome == LineSearch::Outcome::kStopped) Stop();
    if (outcome != LineSearch::Outcome::kSearched && outcome != LineSearch::Outcome::kStopped) return Skip();
    reply_.set_files_searched(reply_.files_searched() + 1);
  }

  // Whose own path in the search is `path`, which is as it was afterwards.
  void Folder(DIR* folder, std::string& path, std::size_t depth) {
    std::vector<Name> names;
    if (!ReadNames(folder, names)) return Skip();
    std::sort(names.begin(), names.end());
    const std::size_t length = path.size();
    for (const Name& name : names) {
      if (stopped_) return;
      if (deadline_.Passed()) return Stop();
      path.append(length == 0 ? "" : "/").append(name.text);
      Entry(dirfd(folder), name, path, depth);
      path.resize(length);
    }
  }

  void SkipGit() { skips_git_ = true; }
  proto::FileReply Take() { return std::move(reply_); }

 private:
  void Stop() {
    stopped_ = true;
    reply_.set_truncated(true);
  }
  void Skip() { reply_.set_files_skipped(reply_.files_skipped() + 1); }

  bool Add(const std::string& path, const LineSearch::Line& line) {
    proto::Match& match = *reply_.add_matches();
    match.set_path(path);
    match.set_line(line.number);
    match.set_column(line.column);
    std::string_view text = line.text;
    if (text.size() > kMaxMatchText) text = text.substr(0, WholeUtf8Length(text.substr(0, kMaxMatchText)));
    match.set_text(text.data(), text.size());
    return reply_.matches_size() < limit_;
  }

  bool ReadNames(DIR* folder, std::vector<Name>& names) {
    while (true) {
      errno = 0;
      const dirent* entry = readdir(folder);
      if (entry == nullptr) return errno == 0;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (seen_ == kMaxSearchEntries) {
        reply_.set_truncated(true);
        return true;
      }
      ++seen_;
      const Kind kind = KindOf(dirfd(folder), *entry);
      if (kind == Kind::kOther || (kind == Kind::kFolder && skips_git_ && name == kGit)) continue;
      names.push_back({std::string(name), kind});
    }
  }

  void Entry(int folder, const Name& name, std::string& path, std::size_t depth) {
    if (path.size() > kMaxSearchPath) return reply_.set_truncated(true);
    if (name.kind == Kind::kFolder) {
      if (depth == kMaxSearchDepth) return reply_.set_truncated(true);
      const FolderStream below = OpenFolder(folder, name.text.c_str(), O_NOFOLLOW);
      return below == nullptr ? Skip() : Folder(below.get(), path, depth + 1);
    }
    if (!glob_.Matches(path)) return;
    const os::Fd file(openat(folder, name.text.c_str(), kReading | O_NOFOLLOW));
    return file.valid() ? File(file.get(), path) : Skip();
  }

  int limit_;
  LineSearch& lines_;
  const PathGlob& glob_;
  Deadline deadline_ = Deadline::In(kMaxSearchTime);
  proto::FileReply reply_;
  std::uint64_t seen_ = 0;
  bool skips_git_ = false;
  bool stopped_ = false;
};

proto::FileReply WrongPattern(const std::string& why) {
  proto::FileReply reply = FailedReply("pattern", EINVAL);
  reply.set_content(why);
  return reply;
}

}  // namespace

proto::FileReply SearchFiles(const proto::SearchFiles& request) {
  if (request.limit() == 0 || request.limit() > kMaxMatches) return FailedReply("limit", EINVAL);
  if (request.pattern().size() > kMaxPattern) return WrongPattern("it is longer than 4096 bytes");
  LineSearch lines(request.pattern(), request.ignores_case() ? LetterCase::kIgnored : LetterCase::kMatters);
  if (!lines.pattern_error().empty()) return WrongPattern(lines.pattern_error());
  if (request.glob().size() > kMaxPattern) return FailedReply("glob", EINVAL);
  const PathGlob glob(request.glob());
  if (!glob.is_valid()) return FailedReply("glob", EINVAL);
  struct stat info{};
  // Before it is opened: that of a FIFO or a device may do something.
  if (stat(request.path().c_str(), &info) != 0) return FailedReply("open", errno);
  Search search(request, lines, glob);
  if (KindOf(info.st_mode) == Kind::kFile) {
    const os::Fd file(open(request.path().c_str(), kReading));
    if (!file.valid()) return FailedReply("open", errno);
    search.File(file.get(), std::string(LastPart(request.path())));
  } else if (KindOf(info.st_mode) == Kind::kFolder) {
    const FolderStream folder = OpenFolder(AT_FDCWD, request.path().c_str(), 0);
    if (folder == nullptr) return FailedReply("open", errno);
    if (!IsInGit(request.path())) search.SkipGit();
    std::string path;
    search.Folder(folder.get(), path, 1);
  } else {
    return FailedReply("not_searchable", EINVAL);
  }
  return search.Take();
}

}  // namespace caisson::guest
