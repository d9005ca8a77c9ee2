#include "caisson/os/clone.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

namespace caisson::os {

pid_t CloneSharingMemory(clone_args args, CloneBody body, void* argument) {
  constexpr std::size_t kStackSize = 64U << 10U;
  static void* const stack =
      mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  args.flags |= CLONE_VM | CLONE_VFORK;
  if (args.stack == 0) {
    args.stack = reinterpret_cast<std::uint64_t>(stack);
    args.stack_size = kStackSize;
  }
  long result = SYS_clone3;
  // The child returns from the call on the new, empty stack and must not touch the caller's: it calls at once.
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[argument], %%rdi\n\t"
      "mov %[body], %%rax\n\t"
      "xor %%ebp, %%ebp\n\t"  // last: either operand may be there
      "call *%%rax\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(&args), "S"(sizeof args), [argument] "r"(argument), [body] "r"(body)
      : "rcx", "r11", "memory");
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return static_cast<pid_t>(result);
}

}  // namespace caisson::os
