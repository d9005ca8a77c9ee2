#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "caisson/storage/folder_copy.h"
#include "caisson/storage/scratch_folder.h"

namespace caisson::storage {

// Every test has the folder "source", to be copied to "copy" beside it. Paths are relative to the scratch folder.
class FolderCopyTest : public testing::Test {
 protected:
  void SetUp() override;

  Result<CopySummary> Copy(const CopyOptions& options = {},
                           const std::function<bool(const CopyProgress&)>& progress = {}) const;
  // Fails the test when there is an error, or when the two folders differ.
  CopySummary CopyWhole() const;
  void ExpectNothingIsLeft() const;
  // The names in the scratch folder besides "source".
  std::vector<std::string> NamesBesideSource() const;

  void Make(const std::string& path) const;
  // Replaces what a file holds.
  void Write(const std::string& path, const std::string& content) const;
  std::string Read(const std::string& path) const;
  struct stat Stat(const std::string& path) const;
  void SetTime(const std::string& path, timespec time) const;
  void SetAttribute(const std::string& path, const char* name, const std::string& value) const;
  // A mount namespace of the test program, so that mounts end with it.
  static bool HasOwnMounts();

  ScratchFolder scratch_;
};

// One line for each entry of a tree, with all that a copy keeps: type, mode, owner, time, other names of the same file,
// attributes, content. The top folder is "".
std::map<std::string, std::string> DescribeTree(const os::Fd& parent, const std::string& name);

// What an assertion prints.
std::string TextOf(const Error& error);

}  // namespace caisson::storage
