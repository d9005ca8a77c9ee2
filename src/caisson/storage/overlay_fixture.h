#pragma once

#include <gtest/gtest.h>

#include <string>

#include "caisson/os/fd.h"

namespace caisson::storage {

// A real overlay of real folders in a mount namespace of the test's own, with the options sandboxes have. The test
// skips where that cannot be made.
class OverlayFixture : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Mounts it over what `lower()` holds by then.
  void MountOverlay();
  // All layers on a tmpfs instead of the file system of temporary folders. Before anything is made in them.
  void UseTmpfs();

  // Unmounts the overlay and empties its layers, for the next one.
  void Empty();

  std::string lower() const { return base_ + "/lower"; }
  std::string upper() const { return base_ + "/upper"; }
  std::string merged() const { return base_ + "/merged"; }
  std::string Merged(const std::string& path) const { return merged() + "/" + path; }

  static os::Fd OpenFolder(const std::string& path);
  static void Write(const std::string& path, const std::string& content);

 private:
  void MakeFolders() const;

  std::string base_;
};

}  // namespace caisson::storage
