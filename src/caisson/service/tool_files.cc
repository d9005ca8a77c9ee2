#include "caisson/service/tool_files.h"

#include <utility>

#include "caisson/base/sha256.h"
#include "caisson/service/line_window.h"
#include "caisson/service/text_edit.h"

namespace caisson::service {
namespace {

constexpr Bytes kWhole = MiB(16);  // what one operation reads

Status CheckDigest(const std::optional<std::string>& expected, std::string_view content) {
  if (!expected) return {};
  const std::string is = Hex(Sha256Of(content));
  if (is == *expected) return {};
  return Fail(Error(Code::kConflict, "the file is another than expected")
                  .Because("its SHA-256 is " + is)
                  .Remedy("read it again, and say what is there now")
                  .Detail("sha256", is));
}

// All of a file that one operation can read.
Result<std::string> ReadWhole(sandbox::Files& files, const std::string& path) {
  CAISSON_TRY(sandbox::FileContent content, files.Read(path, 0, kWhole));
  if (content.size_bytes <= kWhole.value) return std::move(content.bytes);
  return Fail(Error(Code::kInvalidArgument, "the file is larger than 16 MiB")
                  .Because("that much is read and replaced at once")
                  .Remedy("change it with a command"));
}

}  // namespace

Result<tool::FileText> ReadLines(sandbox::Files& files, const tool::ReadFile& call) {
  LineWindow window(call.first_line, call.lines, kMostTold);
  tool::FileText text;
  std::optional<std::string> digest;
  std::uint64_t offset = 0;
  bool at_end = false;
  bool wants_more = true;
  while (wants_more && !at_end && offset < kMostScanned.value) {
    CAISSON_TRY(const sandbox::FileContent part, files.Read(call.path, offset, kWhole));
    text.size_bytes = part.size_bytes;
    if (offset == 0 && part.bytes.size() == part.size_bytes) digest = Hex(Sha256Of(part.bytes));
    offset += part.bytes.size();
    at_end = part.bytes.size() < kWhole.value;
    wants_more = window.Feed(part.bytes);
  }
  const std::uint64_t size_bytes = text.size_bytes;
  text = window.Take(at_end ? LineWindow::Seen::kToTheEnd : LineWindow::Seen::kTheBeginning);
  text.path = call.path;
  text.size_bytes = size_bytes;
  text.sha256 = std::move(digest);
  if (text.lines == 0 && wants_more && !at_end) {
    return Fail(Error(Code::kInvalidArgument, "the line lies behind the first 256 MiB of the file")
                    .Because("one call reads no more to find it")
                    .Remedy("look there with a command, such as tail or sed"));
  }
  return text;
}

Result<tool::FileWritten> WriteWhole(sandbox::Files& files, const tool::WriteFile& call) {
  using IfExists = tool::WriteFile::IfExists;
  if (call.expected_sha256) {
    CAISSON_TRY(const std::string before, ReadWhole(files, call.path));
    CAISSON_CHECK_OK(CheckDigest(call.expected_sha256, before));
  }
  const auto if_exists = call.if_exists == IfExists::kOverwrite ? sandbox::IfExists::kOverwrite
                         : call.if_exists == IfExists::kFail    ? sandbox::IfExists::kFail
                                                                : sandbox::IfExists::kAppend;
  tool::FileWritten written{.path = call.path, .size_bytes = call.content.size()};
  CAISSON_TRY(written.wrote, files.Write(call.path, call.content, if_exists));
  if (written.wrote == sandbox::Wrote::kAppended) {
    CAISSON_TRY(const sandbox::FileContent after, files.Read(call.path, 0, Bytes{0}));
    written.size_bytes = after.size_bytes;
  } else {
    written.sha256 = Hex(Sha256Of(call.content));
  }
  return written;
}

Result<tool::FileEdited> EditText(sandbox::Files& files, const tool::EditFile& call) {
  CAISSON_TRY(const std::string before, ReadWhole(files, call.path));
  CAISSON_CHECK_OK(CheckDigest(call.expected_sha256, before));
  CAISSON_TRY(const EditedText after, Replaced(before, call.old_text, call.new_text, call.count));
  CAISSON_CHECK_OK(files.Write(call.path, after.text, sandbox::IfExists::kOverwrite));
  return tool::FileEdited{.path = call.path,
                          .replaced = call.count,
                          .line = after.line,
                          .size_bytes = after.text.size(),
                          .sha256 = Hex(Sha256Of(after.text))};
}

Result<tool::Listing> ListBelow(sandbox::Files& files, const tool::ListDirectory& call) {
  CAISSON_TRY(sandbox::FolderTree tree, files.Tree(call.path, call.depth, call.limit));
  return tool::Listing{.path = call.path, .tree = std::move(tree)};
}

}  // namespace caisson::service
