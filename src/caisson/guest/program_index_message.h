#pragma once

#include "caisson/os/program_index.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

proto::ProgramIndex WriteProgramIndex(const os::ProgramIndex& index);

}  // namespace caisson::guest
