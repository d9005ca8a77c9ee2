#include "caisson/guest/program_index_message.h"

namespace caisson::guest {

proto::ProgramIndex WriteProgramIndex(const os::ProgramIndex& index) {
  proto::ProgramIndex message;
  for (const auto& [name, entry] : index.by_name) {
    proto::ProgramIndex::Entry& written = *message.add_names();
    written.set_name(name);
    written.set_path(entry.path);
    written.set_real_path(entry.real_path);
    written.set_interpreter(entry.interpreter);
    written.set_argument(entry.argument);
  }
  for (const std::string& program : index.programs) message.add_programs(program);
  for (const std::string& loader : index.loaders) message.add_loaders(loader);
  for (const auto& [path, children] : index.split) {
    proto::ProgramIndex::Folder& folder = *message.add_split();
    folder.set_path(path);
    for (const std::string& child : children) folder.add_children(child);
  }
  for (const std::string& root : index.roots) message.add_roots(root);
  return message;
}

}  // namespace caisson::guest
