#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "caisson/audit/audit_file.h"
#include "caisson/os/fd.h"

namespace caisson::audit {

inline std::string Words(const Error& error) {
  return error.message() + "; " + error.cause() + "; " + error.remediation();
}

// The audit record of one sandbox in a data folder for one test, which is removed with all it holds.
class AuditFixture : public testing::Test {
 public:
  AuditFixture(const AuditFixture&) = delete;
  AuditFixture& operator=(const AuditFixture&) = delete;

 protected:
  AuditFixture() : path_(testing::TempDir() + "caisson_audit.XXXXXX"), id_(SandboxId::Random()) {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no data folder";
    data_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~AuditFixture() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  // Null, and a failure of the test, when it does not open.
  std::unique_ptr<AuditFile> Open(const AuditOptions& options = {}) const {
    auto file = AuditFile::Open(data_, id_, record::Time(), options);
    if (file) return std::move(*file);
    ADD_FAILURE() << Words(file.error());
    return nullptr;
  }
  static record::Entry Step(const std::string& tool) {
    record::Entry entry;
    entry.tool = tool;
    entry.outcome = "exited";
    return entry;
  }
  static void Append(AuditFile& file, int from, int to) {
    for (int i = from; i <= to; ++i) {
      const auto head = file.Append(Step("tool" + std::to_string(i)), record::Redactor());
      ASSERT_TRUE(head) << Words(head.error());
    }
  }

  std::string Path(const std::string& name = "") const {
    return path_ + "/audit/" + id_.text() + (name.empty() ? "" : "." + name) + ".jsonl";
  }
  std::string Read(const std::string& name = "") const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& bytes, const std::string& name = "") const {
    std::ofstream(Path(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::vector<std::string> Lines(const std::string& name = "") const {
    std::vector<std::string> lines;
    std::ifstream file(Path(name));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void WriteLines(const std::vector<std::string>& lines, const std::string& name = "") const {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    Write(all, name);
  }

  std::string path_;
  os::Fd data_;
  SandboxId id_;
};

}  // namespace caisson::audit
