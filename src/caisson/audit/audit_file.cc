#include "caisson/audit/audit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "caisson/audit/audit_folder.h"
#include "caisson/audit/tail.h"
#include "caisson/os/folder_lock.h"
#include "caisson/record/body.h"
#include "caisson/record/line.h"

namespace caisson::audit {
namespace {

constexpr std::uint64_t kFrame = 400;  // the most that a line has beside its body

Error NoRoom(int errno_value) {
  return Error::FromErrno(errno_value, "an audit record cannot be written")
      .Remedy("make room on the file system of the data folder; nothing runs without its record");
}

}  // namespace

AuditFile::AuditFile(os::Fd folder, SandboxId sandbox, const AuditOptions& options)
    : folder_(std::move(folder)), sandbox_(std::move(sandbox)), options_(options) {}

Result<std::unique_ptr<AuditFile>> AuditFile::Open(const os::Fd& data_folder, const SandboxId& sandbox,
                                                   record::Time now, const AuditOptions& options) {
  CAISSON_TRY(os::Fd folder, MakeAuditFolder(data_folder));
  std::unique_ptr<AuditFile> file(new AuditFile(std::move(folder), sandbox, options));
  const std::lock_guard lock(file->mutex_);
  CAISSON_CHECK_OK(file->OpenCurrent(O_CREAT));
  CAISSON_CHECK_OK(file->Continue(now));
  return file;
}

Status AuditFile::OpenCurrent(int flags) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const std::string name = CurrentName(sandbox_);
  os::Fd file(openat(folder_.get(), name.c_str(), kFlags | flags, 0600));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open the audit file '" + name + "'"));
  struct stat info{};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Error(Code::kInvalidArgument, "the audit file '" + name + "' is no regular file"));
  }
  if (!os::Lock(file, LOCK_EX | LOCK_NB)) {
    return Fail(Error(Code::kConflict, "the audit file '" + name + "' is in use")
                    .Because("another process writes the records of this sandbox")
                    .Remedy("end that process first"));
  }
  if (options_.sync == AuditOptions::Sync::kEachRecord && fsync(folder_.get()) != 0) {
    return Fail(Error::FromErrno(errno, "cannot write the audit folder"));
  }
  file_ = std::move(file);
  size_ = 0;
  return {};
}

Status AuditFile::Continue(record::Time now) {
  CAISSON_TRY(Tail tail, ReadTail(file_, sandbox_));
  size_ = tail.whole_size;
  if (tail.torn_size > 0 && ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) {
    return Fail(Error::FromErrno(errno, "cannot cut a torn line off an audit file"));
  }
  if (!tail.last) {
    CAISSON_TRY(const std::vector<std::uint64_t> full, FullFiles(folder_, sandbox_));
    if (!full.empty()) {
      CAISSON_TRY(const os::Fd before, OpenToRead(folder_, FullName(sandbox_, full.back())));
      CAISSON_TRY(const Tail last, ReadTail(before, sandbox_));
      tail.last = last.last;
    }
  }
  head_ = tail.last.value_or(record::FirstHead(sandbox_));
  if (tail.torn_size == 0) return {};
  return AppendGap(now, "{\"type\":\"torn_line\",\"bytes\":" + std::to_string(tail.torn_size) + "}");
}

Status AuditFile::AppendGap(record::Time now, std::string detail) {
  record::Entry gap;
  gap.time = now;
  gap.kind = record::Kind::kGap;
  gap.face = record::Face::kNode;
  gap.detail = std::move(detail);
  return AppendBody(now, record::BodyOf(gap, record::Redactor()));
}

Result<record::Head> AuditFile::Append(const record::Entry& entry, const record::Redactor& redactor) {
  const std::string body = record::BodyOf(entry, redactor);
  const std::lock_guard lock(mutex_);
  if (auto appended = AppendAfterGap(entry.time, body); !appended) {
    ++missed_;
    missed_why_ = appended.error().message();
    if (const int failed = appended.error().errno_value(); failed != 0) missed_why_ = std::strerror(failed);
    return Fail(std::move(appended).error());
  }
  return head_;
}

Status AuditFile::AppendAfterGap(record::Time time, std::string_view body) {
  CAISSON_CHECK_OK(CheckFile());
  if (missed_ > 0) {
    // Our own words, without anything that JSON escapes.
    CAISSON_CHECK_OK(AppendGap(time, "{\"type\":\"records_missed\",\"count\":" + std::to_string(missed_) +
                                         ",\"why\":\"" + missed_why_ + "\"}"));
    missed_ = 0;
  }
  // A file that cannot be followed by another grows on.
  if (size_ > 0 && size_ + body.size() + kFrame > options_.rotate_at.value && Rotate()) CAISSON_CHECK_OK(DropOld(time));
  return AppendBody(time, body);
}

// A line behind what somebody else left there, or in a file that has no name, is no record.
Status AuditFile::CheckFile() const {
  struct stat info{};
  if (fstat(file_.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot look at an audit file"));
  if (info.st_nlink > 0 && static_cast<std::uint64_t>(info.st_size) == size_) return {};
  return Fail(Error(Code::kConflict, "the audit file was changed or removed by somebody else")
                  .Because("its size or its name is not what the last record left")
                  .Remedy("find out who did, and start the node again: it goes on behind the last whole record"));
}

Status AuditFile::AppendBody(record::Time time, std::string_view body) {
  const record::ChainedLine line = record::MakeLine(sandbox_, head_, time, body);
  CAISSON_CHECK_OK(Write(line.text));
  head_ = line.head;
  if (options_.sync == AuditOptions::Sync::kEachRecord && fdatasync(file_.get()) != 0) {
    return Fail(Error::FromErrno(errno, "an audit record may not be on the disk"));
  }
  return {};
}

Status AuditFile::Write(std::string_view line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = write(file_.get(), line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int failed = errno;
      // When this fails too, CheckFile refuses what follows, until the next opening repairs it.
      if (done > 0 && ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) return Fail(NoRoom(errno));
      return Fail(NoRoom(failed));
    }
    done += static_cast<std::size_t>(count);
  }
  size_ += line.size();
  return {};
}

Status AuditFile::Rotate() {
  CAISSON_TRY(const std::vector<std::uint64_t> full, FullFiles(folder_, sandbox_));
  const std::string current = CurrentName(sandbox_);
  const std::string name = FullName(sandbox_, full.empty() ? 1 : full.back() + 1);
  if (renameat2(folder_.get(), current.c_str(), folder_.get(), name.c_str(), RENAME_NOREPLACE) != 0) {
    return Fail(Error::FromErrno(errno, "cannot rename a full audit file"));
  }
  Status opened = OpenCurrent(O_CREAT | O_EXCL);
  if (!opened) (void)renameat2(folder_.get(), name.c_str(), folder_.get(), current.c_str(), RENAME_NOREPLACE);
  return opened;
}

// First the record that says so, then the removal. Files that are damaged stay.
Status AuditFile::DropOld(record::Time now) {
  CAISSON_TRY(const std::vector<std::uint64_t> full, FullFiles(folder_, sandbox_));
  if (full.size() <= options_.keep) return {};
  const std::size_t dropped = full.size() - options_.keep;
  const auto newest = OpenToRead(folder_, FullName(sandbox_, full[dropped - 1]));
  if (!newest) return {};
  const auto tail = ReadTail(*newest, sandbox_);
  if (!tail || !tail->last) return {};
  CAISSON_CHECK_OK(AppendGap(now, record::DroppedDetail(*tail->last)));
  for (std::size_t i = 0; i < dropped; ++i) unlinkat(folder_.get(), FullName(sandbox_, full[i]).c_str(), 0);
  return {};
}

record::Head AuditFile::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

}  // namespace caisson::audit
