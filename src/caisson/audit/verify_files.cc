#include "caisson/audit/verify_files.h"

#include <vector>

#include "caisson/audit/audit_folder.h"
#include "caisson/audit/line_reader.h"
#include "caisson/record/verifier.h"

namespace caisson::audit {
namespace {

struct OpenFile {
  std::string name;
  LineReader reader;
  std::uint64_t lines_before = 0;
};

// All before any is read, so that a rotation meanwhile hides none.
Result<std::vector<OpenFile>> OpenAll(const os::Fd& data_folder, const SandboxId& sandbox) {
  CAISSON_TRY(const os::Fd folder, OpenAuditFolder(data_folder));
  CAISSON_TRY(const std::vector<std::string> names, FilesOf(folder, sandbox));
  std::vector<OpenFile> files;
  for (const std::string& name : names) {
    CAISSON_TRY(os::Fd file, OpenToRead(folder, name));
    files.push_back({.name = name, .reader = LineReader(std::move(file))});
  }
  return files;
}

Status FeedAll(LineReader& reader, record::Verifier& verifier) {
  while (!verifier.decided()) {
    CAISSON_TRY(const LineReader::What what, reader.Next());
    switch (what) {
      case LineReader::What::kEnd:
        return {};
      case LineReader::What::kLine:
        verifier.Feed(reader.text());
        break;
      case LineReader::What::kTooLong:
        verifier.FeedUnreadable(record::Fault::kTooLong);
        break;
      case LineReader::What::kTorn:
        verifier.FeedUnreadable(record::Fault::kTorn);
        break;
    }
  }
  return {};
}

WrongLine InItsFile(const record::Finding& finding, const std::vector<OpenFile>& files) {
  WrongLine wrong{.file = {}, .line = finding.line, .fault = finding.fault, .why = finding.why};
  for (const OpenFile& file : files) {
    const bool is_before = file.lines_before < finding.line || wrong.file.empty();
    if (!is_before) break;
    wrong.file = file.name;
    wrong.line = finding.line - file.lines_before;
  }
  return wrong;
}

}  // namespace

Result<Verified> VerifyFiles(const os::Fd& data_folder, const SandboxId& sandbox, const std::optional<SignedHead>& head,
                             const std::optional<PublicKey>& key) {
  Verified verified;
  if (head && head->sandbox != sandbox)
    return Fail(Error(Code::kInvalidArgument, "the head is that of another sandbox"));
  if (head && key && !IsSignedBy(*head, *key)) {
    verified.wrong =
        WrongLine{.file = {}, .fault = record::Fault::kBadSignature, .why = "the head was not signed with this key"};
    return verified;
  }
  CAISSON_TRY(std::vector<OpenFile> files, OpenAll(data_folder, sandbox));
  record::Verifier verifier(sandbox, head ? std::optional(head->head) : std::nullopt,
                            record::Verifier::Beginning::kAnyRecord);
  for (OpenFile& file : files) {
    file.lines_before = verifier.lines();
    CAISSON_CHECK_OK(FeedAll(file.reader, verifier));
    ++verified.files;
  }
  const auto finding = verifier.End();
  verified.records = verifier.lines();
  verified.first_seq = verifier.lines() == 0 ? 0 : verifier.first_seq();
  verified.last_seq = verifier.last().seq;
  if (finding) verified.wrong = InItsFile(*finding, files);
  return verified;
}

}  // namespace caisson::audit
