#include "caisson/service/spool_trim.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "caisson/sandbox/command_output.h"

namespace caisson::service {

void SpoolTrim::RemoveForgotten() {
  if (listing_ == nullptr) {
    const int fd = openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    listing_.reset(fd < 0 ? nullptr : fdopendir(fd));
    if (listing_ == nullptr) {
      if (fd >= 0) close(fd);
      return;
    }
  }
  std::string last;
  for (std::uint32_t seen = 0; seen < kMostFiles; ++seen) {
    const dirent* const entry = readdir(listing_.get());
    if (entry == nullptr) return listing_.reset();
    const std::string_view name = entry->d_name;
    if (!name.starts_with("cm_")) continue;
    const std::string id(name.substr(0, name.find('.')));
    if (id == last) continue;
    last = id;
    const auto known = database_.HasCommand(id);
    if (known && !*known) sandbox::CommandOutput::Remove(directory_, id);
  }
}

SpoolTrim::Done SpoolTrim::Trim(Bytes most) {
  RemoveForgotten();
  const auto all = database_.SpoolBytes();
  if (!all || *all <= most.value) return Done::kYes;
  std::uint64_t bytes = *all;
  const auto oldest = database_.OldestSpools(kMostRemoved);
  if (!oldest) return Done::kYes;  // the next round may read it
  for (const state::SpoolRecord& spool : *oldest) {
    if (bytes <= most.value) return Done::kYes;
    sandbox::CommandOutput::Remove(directory_, spool.command);
    if (!database_.ForgetSpool(spool.command)) return Done::kYes;
    bytes -= spool.bytes;
  }
  return bytes <= most.value ? Done::kYes : Done::kNo;
}

}  // namespace caisson::service
