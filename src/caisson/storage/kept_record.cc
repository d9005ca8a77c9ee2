#include "caisson/storage/kept_record.h"

#include <chrono>
#include <string>

#include "caisson/os/identity.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::storage {
namespace {

// Block 0 is the engine's.
bool IsFirstOfABlock(std::uint32_t id) {
  const std::uint32_t block = (id - os::kFirstUid) / os::kUidsPerBlock;
  return id >= os::kFirstUid && block > 0 && block < os::kUidBlocks && UidBlocks::FirstId(block) == id;
}

}  // namespace

proto::KeptSandbox NewKeptRecord(const std::string& id, std::uint32_t first_id) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  proto::KeptSandbox record;
  record.set_version(kKeptVersion);
  record.set_id(id);
  record.set_created_unix_ms(std::chrono::duration_cast<milliseconds>(now).count());
  record.set_first_id(first_id);
  return record;
}

Result<proto::KeptSandbox> ReadKeptRecord(std::string_view bytes) {
  proto::KeptSandbox record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || record.version() != kKeptVersion ||
      !IsFirstOfABlock(record.first_id())) {
    return Fail(Error(Code::kUnsupported, "the record of the sandbox was written by another version of Caisson"));
  }
  return record;
}

}  // namespace caisson::storage
