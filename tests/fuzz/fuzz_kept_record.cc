// The record of a kept sandbox, which `caisson diff` reads as root.
// Input: the record.

#include "caisson/os/identity.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/kept_record.h"
#include "fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = caisson::fuzz::Input(data, size).TakeRest().substr(0, caisson::storage::kMaxRecord);
  const auto record = caisson::storage::ReadKeptRecord(bytes);
  if (!record) return 0;
  caisson::fuzz::Require(record->first_id() > caisson::os::kEngineUid, "files of a sandbox are not the engine's");
  caisson::fuzz::Require(record->first_id() <= 0x7FFF'FFFF, "the ids of a sandbox are in Caisson's range");
  return 0;
}
