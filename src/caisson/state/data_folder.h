#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "caisson/os/fd.h"
#include "caisson/state/database.h"

namespace caisson::state {

inline std::string Words(const Error& error) {
  return error.message() + "; " + error.cause() + "; " + error.remediation();
}

// A new data folder for one test, removed with all it holds, and what tests do with the files in it.
class DataFolder {
 public:
  DataFolder() : path_(testing::TempDir() + "caisson_state.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no data folder";
    fd_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  ~DataFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const os::Fd& fd() const { return fd_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // Null, and a failure of the test, when it does not open.
  std::unique_ptr<Database> Open(const DatabaseOptions& options = {}) const {
    auto database = Database::Open(fd_, options);
    if (database) return std::move(*database);
    ADD_FAILURE() << Words(database.error());
    return nullptr;
  }

  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  bool Has(const std::string& name) const { return std::filesystem::exists(Path(name)); }

 private:
  std::string path_;
  os::Fd fd_;
};

inline EventRecord SomeEvent(std::string type = "sandbox.pending") { return {.time = 5, .type = std::move(type)}; }

inline SandboxRecord SomeSandbox(UnixMs created_at = 1000) {
  SandboxRecord record{.id = SandboxId::Random()};
  record.state = "running";
  record.created_at = created_at;
  record.changed_at = created_at;
  return record;
}

// Records a running sandbox that has nothing special.
inline SandboxId AddSandbox(Database& database, UnixMs created_at = 1000) {
  const SandboxRecord record = SomeSandbox(created_at);
  const auto added = database.InsertSandbox(record, {}, SomeEvent());
  EXPECT_TRUE(added) << Words(added.error());
  return record.id;
}

inline CommandRecord SomeCommand(const SandboxId& sandbox, std::string id) {
  CommandRecord record{.id = std::move(id), .sandbox = sandbox};
  record.started_at = 2000;
  record.timeout = std::chrono::seconds(30);
  return record;
}

inline void ExpectCode(const auto& result, Code code) {
  ASSERT_FALSE(result) << "it worked";
  EXPECT_EQ(result.error().code(), code) << Words(result.error());
}

}  // namespace caisson::state
