#pragma once

#include <cstddef>
#include <string_view>
#include <tl/expected.hpp>

#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// What the launcher checks before it believes a message of the engine's. Pure.

// The request that the message is. Its plan is not looked at. Errors, as errno: EBADMSG for another size or verb than
// there are; EPROTO for another version.
tl::expected<plan::LaunchRequest, int> ReadLaunchRequest(std::string_view message);

// Whether every value of a plan is in its range, and its id can be a file's name.
bool IsWellFormed(const plan::LaunchPlan& plan);

// The same of its id and its storage alone.
bool NamesSandbox(const plan::LaunchPlan& plan);

// How many descriptors come with kCreate.
std::size_t DescriptorsOf(const plan::LaunchPlan& plan, plan::Expect expect);

}  // namespace caisson::launcher
