#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "caisson/rest/byte_range.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/percent.h"
#include "caisson/rest/problem.h"
#include "caisson/rest/query.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {
namespace {

constexpr Bytes kPiece = MiB(1);
constexpr std::size_t kLongestRange = 64;

// A part of a file, read piece by piece while the client takes it. A file that changes its size meanwhile ends the
// answer without its end: the pieces would not fit together.
class FileSource final : public StreamSource {
 public:
  FileSource(service::Service& service, const Request& request, std::string path, std::uint64_t file_size,
             FilePart part)
      : service_(service),
        caller_(request.caller),
        sandbox_(request.sandbox),
        path_(std::move(path)),
        file_size_(file_size),
        part_(part) {}

  // What was read already, from the beginning of the part.
  void Put(std::string bytes) { ahead_ = std::move(bytes); }

  Result<Piece> Next() override {
    std::string bytes = std::exchange(ahead_, {});
    if (bytes.empty() && part_.length > 0) {
      const Bytes limit{std::min(kPiece.value, part_.length)};
      CAISSON_TRY(sandbox::FileContent content, service_.ReadFile(caller_, sandbox_, path_, part_.offset, limit));
      if (content.size_bytes != file_size_ || content.bytes.empty()) {
        return Fail(Error(Code::kConflict, "the file changed while it was read"));
      }
      bytes = std::move(content.bytes);
    }
    if (bytes.size() > part_.length) bytes.resize(part_.length);
    part_.offset += bytes.size();
    part_.length -= bytes.size();
    return Piece{.bytes = std::move(bytes), .last = part_.length == 0};
  }
  void Await(std::function<void()> ready) override { ready(); }
  void Cancel() override {}

 private:
  service::Service& service_;
  service::Caller caller_;
  std::string sandbox_;
  std::string path_;
  std::uint64_t file_size_;
  FilePart part_;
  std::string ahead_;
};

Result<Answer> ListFolder(const Node& node, const Request& request, const std::string& path) {
  CAISSON_TRY(const std::vector<sandbox::FileEntry> entries,
              node.service.ListFolder(request.caller, request.sandbox, path));
  return JsonReply(200, FolderObject(entries));
}

Reply OutOfRange(std::uint64_t size) {
  Reply reply = Problem(
      416,
      Error(Code::kInvalidArgument, "the file has no byte in this range").Detail("size_bytes", std::to_string(size)));
  reply.fields.emplace_back("Content-Range", "bytes */" + std::to_string(size));
  return reply;
}

Result<std::string> OneFilePath(const Request& request) {
  if (request.file.empty()) return Fail(Error(Code::kInvalidArgument, "the path of a file must follow /files/"));
  return FilePathOf(request.file);
}

}  // namespace

Result<Answer> GetFile(const Node& node, const Request& request) {
  QueryReader query(request.query);
  const bool list = query.Mentioned("list");
  CAISSON_CHECK_OK(query.Finish());
  CAISSON_TRY(const std::string path, FilePathOf(request.file));
  if (list) return ListFolder(node, request, path);

  if (request.range && request.range->size() > kLongestRange) {
    return Fail(Error(Code::kInvalidArgument, "the field Range is longer than 64 bytes"));
  }
  const std::optional<ByteRange> range = request.range ? ParseByteRange(*request.range) : std::nullopt;
  const std::uint64_t first = range ? range->first.value_or(0) : 0;
  CAISSON_TRY(sandbox::FileContent content,
              node.service.ReadFile(request.caller, request.sandbox, path, first, kPiece));
  const std::uint64_t size = content.size_bytes;
  FilePart part{.offset = 0, .length = size};
  StreamReply reply;
  reply.head.fields = {{"Accept-Ranges", "bytes"}, {"Content-Disposition", "attachment"}};
  if (range) {
    const std::optional<FilePart> wanted = PartOf(*range, size);
    if (!wanted) return OutOfRange(size);
    part = *wanted;
    reply.head.status = 206;
    reply.head.fields.emplace_back("Content-Range", "bytes " + std::to_string(part.offset) + "-" +
                                                        std::to_string(part.offset + part.length - 1) + "/" +
                                                        std::to_string(size));
  }
  reply.head.content_type = "application/octet-stream";
  reply.length = part.length;
  auto source = std::make_unique<FileSource>(node.service, request, path, size, part);
  if (part.offset == first) source->Put(std::move(content.bytes));
  reply.source = std::move(source);
  return reply;
}

Result<Answer> PutFile(const Node& node, const Request& request) {
  constexpr sandbox::IfExists kChoices[] = {sandbox::IfExists::kOverwrite, sandbox::IfExists::kFail,
                                            sandbox::IfExists::kAppend};
  QueryReader query(request.query);
  const std::optional<std::size_t> chosen = query.Choice("if_exists", {"overwrite", "fail", "append"});
  CAISSON_CHECK_OK(query.Finish());
  CAISSON_TRY(const std::string path, OneFilePath(request));
  CAISSON_TRY(const sandbox::Wrote wrote, node.service.WriteFile(request.caller, request.sandbox, path, request.body,
                                                                 kChoices[chosen.value_or(0)]));
  const char* const name = wrote == sandbox::Wrote::kCreated    ? "created"
                           : wrote == sandbox::Wrote::kReplaced ? "replaced"
                                                                : "appended";
  return JsonReply(200, boost::json::object{{"wrote", name}});
}

Result<Answer> DeleteFile(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const std::string path, OneFilePath(request));
  CAISSON_CHECK_OK(node.service.DeleteFile(request.caller, request.sandbox, path));
  return Reply{.status = 204, .content_type = {}, .fields = {}, .body = {}};
}

}  // namespace caisson::rest
