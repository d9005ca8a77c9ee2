// What the storage process, which is root, takes from the launcher.
// Input: one message.

#include <cstring>
#include <string_view>

#include "caisson/storage/storage_request.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;

template <std::size_t size>
std::string_view NameIn(const char (&name)[size]) {
  Require(std::memchr(name, '\0', size) != nullptr, "a name ends");
  const std::string_view text = name;
  Require(text != "." && text != ".." && text.find('/') == std::string_view::npos, "a name is that of one file");
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message = caisson::fuzz::Input(data, size).TakeRest();
  const auto request = caisson::storage::ReadStorageRequest(message);
  if (!request) return 0;
  Require(message.size() == sizeof *request, "a request has the size of one");
  Require(request->verb <= caisson::plan::StorageVerb::kConnect, "a verb is one there is");
  Require(request->storage <= caisson::plan::Storage::kBtrfs, "a storage is one there is");
  const std::string_view name = NameIn(request->name);
  (void)NameIn(request->image);
  Require(request->verb != caisson::plan::StorageVerb::kMake || !name.empty(), "a layer has a name");
  return 0;
}
