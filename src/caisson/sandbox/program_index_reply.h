#pragma once

#include "caisson/base/result.h"
#include "caisson/os/program_index.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::sandbox {

// What a guest says can be executed in its image: a claim, good for that sandbox alone. Errors: kUnavailable when a
// path in it is none, a folder is in it twice, or it is out of order.
Result<os::ProgramIndex> ReadProgramIndex(std::string_view message);

}  // namespace caisson::sandbox
