#include "caisson/sandbox/files.h"

#include "caisson/backend/instance.h"
#include "caisson/sandbox/change_tracker.h"
#include "caisson/sandbox/command_pump.h"
#include "caisson/sandbox/command_request.h"
#include "caisson/sandbox/file_reply.h"
#include "caisson/sandbox/program_index_reply.h"
#include "caisson/sandbox/search_reply.h"

namespace caisson::sandbox {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr Bytes kMaxContent = MiB(16);
constexpr std::uint32_t kMaxEntries = 10'000;
constexpr std::uint32_t kMaxDepth = 16;
constexpr std::uint32_t kMaxMatches = 1000;
constexpr std::size_t kMaxPattern = 4096;
// A reply with the largest content or listing, and its framing.
constexpr Bytes kMaxReply = MiB(64);

// Runs one file operation as a command of its own and reads its reply, which comes from inside and is only data.
class Operation {
 public:
  Operation(Sandbox& sandbox, User user, const backend::Instance::SharedPlan& plan)
      : instance_(sandbox.instance()), changes_(sandbox.changes()), plan_(plan) {
    request_.set_cwd(plan::kAgentWorkspace);
    request_.set_id(IdOf(user));
  }
  proto::FileOperation& operation() { return *request_.mutable_file_operation(); }

  Result<proto::FileReply> Run(std::string_view path, std::string_view content) {
    if (path.empty() || path.find('\0') != std::string_view::npos || path.size() >= 4096) {
      return Fail(Error(Code::kInvalidArgument, "a path is empty, longer than 4095 bytes or holds a zero byte"));
    }
    const ChangeTracker::Unasked unasked(changes_);
    CAISSON_TRY(backend::Instance::Started started, instance_.Start(request_, plan_));
    if (started.error != 0) {
      return Fail(Error::FromErrno(started.error, "cannot start a file operation: " + started.step));
    }
    CommandPump pump(started.end, InputStream(std::move(started.stdio[0]), content),
                     OutputStream(std::move(started.stdio[1]), -1, OutputCapture(kMaxReply, Spool::kDiscard, -1)),
                     std::nullopt, -1);
    const CommandPump::Event event = pump.Run(Deadline::In(kPatience));
    const bool expired = std::holds_alternative<CommandPump::Expired>(event);
    if (expired) started.leaf->Kill();
    instance_.Return(*std::move(started.leaf));
    if (expired) {
      return Fail(Error(Code::kDeadlineExceeded, "the file operation took longer than 10 s"));
    }
    pump.Finish();
    return ReadFileReply(pump.TakeOut(), path);
  }

 private:
  backend::Instance& instance_;
  ChangeTracker& changes_;
  const backend::Instance::SharedPlan& plan_;
  proto::StartCommand request_;
};

}  // namespace

Result<FileContent> Files::Read(std::string_view path, std::uint64_t offset, Bytes limit) {
  if (limit > kMaxContent) return Fail(Error(Code::kInvalidArgument, "one read returns at most 16 MiB"));
  Operation operation(sandbox_, user_, plan_);
  proto::ReadFile& read = *operation.operation().mutable_read();
  read.set_path(std::string(path));
  read.set_offset(offset);
  read.set_limit(limit.value);
  CAISSON_TRY(proto::FileReply reply, operation.Run(path, {}));
  if (reply.content().size() > limit.value) {
    return Fail(Error(Code::kUnavailable, "the file operation gave more than was asked for"));
  }
  return FileContent{std::move(*reply.mutable_content()), reply.size()};
}

Result<Wrote> Files::Write(std::string_view path, std::string_view content, IfExists if_exists) {
  if (content.size() > kMaxContent.value) return Fail(Error(Code::kInvalidArgument, "one write takes at most 16 MiB"));
  Operation operation(sandbox_, user_, plan_);
  proto::WriteFile& write = *operation.operation().mutable_write();
  write.set_path(std::string(path));
  write.set_size(content.size());
  write.set_if_exists(if_exists == IfExists::kOverwrite ? proto::WriteFile::OVERWRITE
                      : if_exists == IfExists::kFail    ? proto::WriteFile::FAIL
                                                        : proto::WriteFile::APPEND);
  CAISSON_TRY(const proto::FileReply reply, operation.Run(path, content));
  switch (reply.wrote()) {
    case proto::FileReply::REPLACED:
      return Wrote::kReplaced;
    case proto::FileReply::APPENDED:
      return Wrote::kAppended;
    default:
      return Wrote::kCreated;
  }
}

Status Files::Remove(std::string_view path) {
  Operation operation(sandbox_, user_, plan_);
  operation.operation().mutable_remove()->set_path(std::string(path));
  if (auto reply = operation.Run(path, {}); !reply) return Fail(std::move(reply).error());
  return {};
}

Result<std::vector<FileEntry>> Files::List(std::string_view path) {
  Operation operation(sandbox_, user_, plan_);
  proto::ListDirectory& list = *operation.operation().mutable_list();
  list.set_path(std::string(path));
  list.set_limit(kMaxEntries);
  CAISSON_TRY(const proto::FileReply reply, operation.Run(path, {}));
  return EntriesOf(reply);
}

Result<FolderTree> Files::Tree(std::string_view path, std::uint32_t depth, std::uint32_t limit) {
  if (depth == 0 || depth > kMaxDepth) return Fail(Error(Code::kInvalidArgument, "a depth is 1 to 16"));
  if (limit == 0 || limit > kMaxEntries) return Fail(Error(Code::kInvalidArgument, "a limit is 1 to 10,000 entries"));
  Operation operation(sandbox_, user_, plan_);
  proto::ListTree& list = *operation.operation().mutable_list_tree();
  list.set_path(std::string(path));
  list.set_depth(depth);
  list.set_limit(limit);
  CAISSON_TRY(const proto::FileReply reply, operation.Run(path, {}));
  return TreeOf(reply, depth, limit);
}

Result<FileMatches> Files::Search(const FileSearch& search) {
  if (search.limit == 0 || search.limit > kMaxMatches) {
    return Fail(Error(Code::kInvalidArgument, "a limit is 1 to 1,000 matches"));
  }
  if (search.pattern.size() > kMaxPattern || search.glob.size() > kMaxPattern) {
    return Fail(Error(Code::kInvalidArgument, "a pattern or glob is longer than 4096 bytes"));
  }
  Operation operation(sandbox_, user_, plan_);
  proto::SearchFiles& request = *operation.operation().mutable_search();
  request.set_path(search.path);
  request.set_pattern(search.pattern);
  request.set_glob(search.glob);
  request.set_limit(search.limit);
  request.set_ignores_case(search.letters == FileSearch::LetterCase::kIgnored);
  CAISSON_TRY(const proto::FileReply reply, operation.Run(search.path, {}));
  return MatchesOf(reply, search.limit);
}

Result<std::string> Files::Follow(std::string_view path) {
  Operation operation(sandbox_, user_, plan_);
  operation.operation().mutable_follow()->set_path(std::string(path));
  CAISSON_TRY(proto::FileReply reply, operation.Run(path, {}));
  if (!reply.content().starts_with('/') || reply.content().find('\0') != std::string::npos) {
    return Fail(Error(Code::kUnavailable, "the file operation gave no path"));
  }
  return std::move(*reply.mutable_content());
}

Result<os::ProgramIndex> Files::FindPrograms() {
  Operation operation(sandbox_, user_, plan_);
  operation.operation().mutable_find_programs();
  CAISSON_TRY(const proto::FileReply reply, operation.Run("/", {}));
  return ReadProgramIndex(reply.content());
}

}  // namespace caisson::sandbox
