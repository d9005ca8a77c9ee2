#include "caisson/base/path_text.h"

namespace caisson {

bool IsNormalPath(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos) return false;
  if (path == "/") return true;
  std::size_t start = 1;
  while (true) {
    const std::size_t end = path.find('/', start);
    const std::string_view part = path.substr(start, end == std::string_view::npos ? end : end - start);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == std::string_view::npos) return true;
    start = end + 1;
  }
}

std::string NormalPath(std::string_view folder, std::string_view path) {
  std::string out;
  const auto append = [&out](std::string_view text) {
    while (!text.empty()) {
      const std::string_view part = text.substr(0, text.find('/'));
      text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        out.resize(out.empty() ? 0 : out.rfind('/'));
      } else {
        out.append("/").append(part);
      }
    }
  };
  if (!path.starts_with('/')) append(folder);
  append(path);
  return out.empty() ? "/" : out;
}

bool IsBelow(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view LastPart(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

bool IsEntryName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

}  // namespace caisson
