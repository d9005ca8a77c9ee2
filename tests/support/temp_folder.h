#pragma once

#include <string>
#include <string_view>

namespace caisson::support {

// A new folder on the host that everybody may read and root may write, removed with all it holds. Move-only.
class TempFolder {
 public:
  TempFolder();
  TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }
  // The path of something below it.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// A regular file with this content and mode; its parents must exist. A failure is one of the test.
void WriteFile(const std::string& path, std::string_view content, unsigned mode = 0644);
// The content of a file of the host; empty when there is none.
std::string ReadFile(const std::string& path);

}  // namespace caisson::support
