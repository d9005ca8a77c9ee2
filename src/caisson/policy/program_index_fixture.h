#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "caisson/os/program_index.h"
#include "caisson/plan/kernel_plan.h"

namespace caisson::policy {

// Builds what os::IndexPrograms would say of an image.
class ImageIndex {
 public:
  // A file that the search path names, which is a program.
  ImageIndex& Program(const std::string& path) {
    AddFile(path);
    index_.programs.push_back(path);
    return Name(path, path);
  }
  // One that it does not name.
  ImageIndex& Hidden(const std::string& path) {
    AddFile(path);
    index_.programs.push_back(path);
    std::sort(index_.programs.begin(), index_.programs.end());
    return *this;
  }
  ImageIndex& Script(const std::string& path, const std::string& interpreter, const std::string& argument = {}) {
    AddFile(path);
    return Name(path, path, interpreter, argument);
  }
  ImageIndex& Link(const std::string& path, const std::string& real_path) { return Name(path, real_path); }
  ImageIndex& Data(const std::string& path) {
    AddFile(path);
    return *this;
  }
  ImageIndex& Loader(const std::string& path) {
    index_.loaders.push_back(path);
    return Hidden(path);
  }
  const os::ProgramIndex& index() const { return index_; }

 private:
  ImageIndex& Name(const std::string& path, const std::string& real_path, const std::string& interpreter = {},
                   const std::string& argument = {}) {
    index_.by_name.emplace(path.substr(path.rfind('/') + 1),
                           os::ProgramIndex::Entry{
                               .path = path, .real_path = real_path, .interpreter = interpreter, .argument = argument});
    std::sort(index_.programs.begin(), index_.programs.end());
    return *this;
  }
  void AddFile(const std::string& path) {
    std::filesystem::path at(path);
    while (at != "/") {
      std::vector<std::string>& children = index_.split[at.parent_path()];
      const std::string name = at.filename();
      if (std::find(children.begin(), children.end(), name) == children.end()) children.push_back(name);
      std::sort(children.begin(), children.end());
      at = at.parent_path();
      if (at.parent_path() != "/" || at == "/") continue;
      std::vector<std::string>& roots = index_.roots;
      if (std::find(roots.begin(), roots.end(), at.string()) == roots.end()) roots.push_back(at);
    }
  }

  os::ProgramIndex index_;
};

// A small image of separate programs, with bash, and links between folders left out.
inline ImageIndex SmallImage() {
  ImageIndex image;
  image.Program("/usr/bin/bash").Link("/usr/bin/sh", "/usr/bin/bash").Program("/usr/bin/ls").Program("/usr/bin/rm");
  image.Program("/usr/bin/env").Program("/usr/bin/python3.11").Link("/usr/bin/python3", "/usr/bin/python3.11");
  image.Script("/usr/bin/pip", "/usr/bin/python3.11").Script("/usr/bin/tool", "/usr/bin/env", "python3");
  image.Program("/usr/bin/git").Hidden("/usr/lib/git-core/git-remote").Data("/usr/lib/libc.so.6");
  image.Loader("/usr/lib/ld.so").Data("/usr/share/doc");
  return image;
}

// What grants give one path, by itself and from the folders above it, as Landlock adds them up.
inline plan::FileRights RightsAt(const std::vector<plan::FileGrant>& grants, const std::string& path) {
  plan::FileRights rights = 0;
  for (const plan::FileGrant& grant : grants) {
    const bool is_below =
        grant.reach == plan::FileGrant::Reach::kBelow && (grant.path == "/" || path.starts_with(grant.path + "/"));
    if (grant.path == path || is_below) rights |= grant.rights;
  }
  return rights;
}

}  // namespace caisson::policy
