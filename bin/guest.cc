#include "caisson/guest/guest.h"

// Started by the launcher as PID 1 of a sandbox, with the control stream as descriptor 3.
int main() { return caisson::guest::RunGuest(caisson::os::Fd(3)); }
