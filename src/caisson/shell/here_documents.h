#pragma once

#include <cstdint>

#include "caisson/shell/scan.h"

namespace caisson::shell {

enum class Tabs : std::uint8_t { kKept, kStripped };

// What follows << or <<-: the delimiter. The body is read at the next newline.
void AnnounceHereDocument(Scan& scan, Tabs tabs);

// After a newline: the bodies of all that were announced, with the commands inside them.
void ReadHereDocuments(Scan& scan);

}  // namespace caisson::shell
