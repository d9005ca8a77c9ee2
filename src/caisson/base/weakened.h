#pragma once

#include <string_view>

// The points at which a test build leaves out one protection, to show that a test notices. Which protections there are,
// and which file holds the point of each: tests/weakened/protections.txt. Only the targets of tests/weakened define
// CAISSON_WEAKEN, on single files. In every other build both functions are constants that leave nothing behind, and
// lint.protections looks into the programs for the mark of such a point. Neither may run: consteval.

namespace caisson {

#ifdef CAISSON_WEAKEN
[[gnu::used, gnu::retain]] static constexpr char kWeakenedMark[] = "caisson leaves out: " CAISSON_WEAKEN;
static constexpr std::string_view kWeakened = CAISSON_WEAKEN;
#else
static constexpr std::string_view kWeakened;
#endif

// True in a build without one of these protections.
template <typename... Names>
static consteval bool Weakened(Names... names) {
  return ((kWeakened == names) || ...);
}

// `value`, a flag that sets up a protection; 0 in a build without it.
template <typename Value>
static consteval Value Protected(std::string_view name, Value value) {
  return kWeakened == name ? Value{} : value;
}

}  // namespace caisson
