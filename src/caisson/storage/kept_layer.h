#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// A layer on disk that outlives its sandbox carries a record of what it belongs to. The record is the mark: with it the
// layer is nobody's left-over, locked or not. Only root may enter a layer's folder, so that nothing inside made it.

// Writes it, whole or not at all. `record`: what the engine needs to know the layer again, opaque here. `image`: the
// name of the image below `images` that must stay as long as the layer does; empty: none.
Status KeepLayer(const os::Fd& layer, std::string_view record, const std::string& image);

// It is a left-over from here on, unless somebody has it locked.
Status ForgetKept(const os::Fd& layer);

// The image of a kept layer, empty when it has none there.
std::string ImageOfKept(const os::Fd& layer);

// Whether it has a record. Errors: it cannot be told.
Result<bool> HasRecord(const os::Fd& layer);
// The same of a layer by its name. `layers`: the folder the layers lie in. One of which it cannot be told is kept.
bool IsKept(const os::Fd& layers, const std::string& name);

// Errors: kNotFound without one; kInternal when it is larger than kMaxRecord.
Result<std::string> ReadRecord(const os::Fd& layer);

inline constexpr std::size_t kMaxRecord = std::size_t{16} << 10U;

}  // namespace caisson::storage
