#pragma once

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// An executable copy of `program` in memory that nobody can change any more: sealed against writing, growing, shrinking
// and unsealing. Source: memfd_create(2), fcntl(2) F_ADD_SEALS. Errors: kUnsupported where vm.memfd_noexec forbids it.
Result<Fd> SealedCopy(const Fd& program);

}  // namespace caisson::os
