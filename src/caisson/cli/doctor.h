#pragma once

#include <string>
#include <vector>

#include "caisson/os/probe.h"

namespace caisson::cli {

enum class Colour { kNo, kYes };

// What the host's kernel and this installation offer: os::ProbeHost and whether the other programs are there.
std::vector<os::Primitive> ExamineHost();

// The report for people: a line a primitive, with cost and remedy below those that are not in order.
std::string DoctorTable(const std::vector<os::Primitive>& primitives, Colour colour);

// {"can_run","kernel","tiers","primitives":[{"name","status","found","cost","remedy"}]} on one line.
std::string DoctorJson(const std::vector<os::Primitive>& primitives);

}  // namespace caisson::cli
