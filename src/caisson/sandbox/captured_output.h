#pragma once

#include <string_view>

#include "caisson/sandbox/command.h"

namespace caisson::sandbox {

// Collects one stream of a command as it comes: the first and the last bytes in memory, on demand the whole in an
// unnamed file, and always the count. Memory and disk use are bounded whatever the command writes.
class OutputCapture {
 public:
  // `spool_directory` is borrowed and used with Spool::kKeep only.
  OutputCapture(Bytes kept, Spool spool, int spool_directory)
      : limit_(kept.value), spool_(spool), spool_directory_(spool_directory) {}

  // A full disk ends the spool, not the command: what was written until then stays readable.
  void Append(std::string_view data);
  CapturedOutput Take() &&;

 private:
  void AppendToSpool(std::string_view data);
  void AppendToTail(std::string_view data);

  std::size_t limit_;
  Spool spool_;
  int spool_directory_;
  std::uint64_t spooled_ = 0;
  CapturedOutput output_;
};

}  // namespace caisson::sandbox
