#pragma once

#include <string>
#include <vector>

#include "caisson/os/fd.h"
#include "fuzz/fuzz_input.h"

namespace caisson::fuzz {

// The peer of a stream socket as an input describes it. Each part is [flags] [two bytes of length, payload]: flag 1
// sends the payload as it is, without the length of a frame; the next three bits are the number of descriptors that go
// with it, and the upper four choose what they are: of a pipe, a terminal, /dev/null and a socket the one with this
// number, for every fourth the next.

// Sends at most `count` parts of an input.
void SendParts(int socket, Input& input, int count);

// A descriptor of the circle, owned by the process for its whole life.
int SampleDescriptor(unsigned number);

}  // namespace caisson::fuzz
