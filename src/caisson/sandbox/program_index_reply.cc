#include "caisson/sandbox/program_index_reply.h"

#include <algorithm>
#include <string>

#include "caisson/base/path_text.h"

namespace caisson::sandbox {
namespace {

bool TakePaths(const google::protobuf::RepeatedPtrField<std::string>& from, std::vector<std::string>& to) {
  to.assign(from.begin(), from.end());
  return std::all_of(to.begin(), to.end(), IsNormalPath) && std::is_sorted(to.begin(), to.end());
}

bool TakeNames(const proto::ProgramIndex& message, os::ProgramIndex& index) {
  for (const proto::ProgramIndex::Entry& entry : message.names()) {
    const bool is_possible = IsEntryName(entry.name()) && IsNormalPath(entry.path()) &&
                             IsNormalPath(entry.real_path()) &&
                             (entry.interpreter().empty() || IsNormalPath(entry.interpreter()));
    if (!is_possible) return false;
    index.by_name.emplace(entry.name(), os::ProgramIndex::Entry{.path = entry.path(),
                                                                .real_path = entry.real_path(),
                                                                .interpreter = entry.interpreter(),
                                                                .argument = entry.argument()});
  }
  return true;
}

bool TakeFolders(const proto::ProgramIndex& message, os::ProgramIndex& index) {
  for (const proto::ProgramIndex::Folder& folder : message.split()) {
    std::vector<std::string> children(folder.children().begin(), folder.children().end());
    if (!IsNormalPath(folder.path()) || !std::all_of(children.begin(), children.end(), IsEntryName)) return false;
    if (!index.split.emplace(folder.path(), std::move(children)).second) return false;
  }
  return true;
}

}  // namespace

Result<os::ProgramIndex> ReadProgramIndex(std::string_view text) {
  proto::ProgramIndex message;
  os::ProgramIndex index;
  const bool is_read = message.ParseFromArray(text.data(), static_cast<int>(text.size())) &&
                       TakePaths(message.programs(), index.programs) && TakePaths(message.loaders(), index.loaders) &&
                       TakeNames(message, index) && TakeFolders(message, index);
  index.roots.assign(message.roots().begin(), message.roots().end());
  if (!is_read || !std::all_of(index.roots.begin(), index.roots.end(), IsNormalPath)) {
    return Fail(Error(Code::kUnavailable, "the sandbox's list of programs is malformed"));
  }
  return index;
}

}  // namespace caisson::sandbox
