// Every number, every architecture, every single bit of every argument: what a filter says there, against the table.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "caisson/plan/bpf_interpreter.h"
#include "caisson/plan/syscall_table.h"
#include "caisson/plan/verdict_oracle.h"

namespace caisson::plan {
namespace {

constexpr std::uint32_t kNumbers = 1024;
constexpr std::uint32_t kX32 = 0x40000000;

// Also one bit away from our own, and none at all.
constexpr std::uint32_t kOtherArchitectures[] = {AUDIT_ARCH_I386,
                                                 AUDIT_ARCH_X86_64 ^ __AUDIT_ARCH_LE,
                                                 AUDIT_ARCH_X86_64 ^ __AUDIT_ARCH_64BIT,
                                                 AUDIT_ARCH_X86_64 | __AUDIT_ARCH_CONVENTION_MIPS64_N32,
                                                 AUDIT_ARCH_X86_64 ^ 1u,
                                                 AUDIT_ARCH_AARCH64,
                                                 AUDIT_ARCH_ARM,
                                                 AUDIT_ARCH_RISCV64,
                                                 0,
                                                 0xffffffff};

// Arguments that differ in one bit each from all zeros, all ones, and what a call is refused for.
std::vector<Arguments> OneBitAway(const Syscall* call) {
  std::vector<Arguments> bases = {{}, {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}};
  if (call != nullptr) {
    for (const Refusal& refusal : call->refusals) {
      Arguments base = {};
      for (const Condition& condition : refusal.when) {
        const std::uint64_t value = condition.values.empty() ? condition.mask : condition.values.front();
        base[condition.argument] |= condition.half == Half::kLow ? value : value << 32;
      }
      bases.push_back(base);
    }
  }
  std::vector<Arguments> samples = bases;
  for (const Arguments& base : bases) {
    for (std::size_t argument = 0; argument < base.size(); ++argument) {
      for (int bit = 0; bit < 64; ++bit) {
        Arguments sample = base;
        sample[argument] ^= std::uint64_t{1} << bit;
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

class SeccompSweep : public testing::TestWithParam<FilterKind> {
 protected:
  // Counts, and tells of the first few, calls of which program and table disagree.
  void Judge(std::uint32_t number, std::uint32_t architecture, const Arguments& arguments) {
    const seccomp_data call = CallOf(number, architecture, arguments);
    ++judged_;
    if (filter_.Run(call) == Expected(GetParam(), call)) return;
    if (++wrong_ < 10) ADD_FAILURE() << "number " << number << " architecture " << architecture;
  }

  BpfInterpreter filter_{CompileFilter(GetParam())};
  std::size_t judged_ = 0;
  std::size_t wrong_ = 0;
};

TEST_P(SeccompSweep, EveryBitOfEveryArgument) {
  for (std::uint32_t number = 0; number < kNumbers; ++number) {
    for (const Arguments& arguments : OneBitAway(FindSyscall(number))) Judge(number, AUDIT_ARCH_X86_64, arguments);
  }
  EXPECT_EQ(wrong_, 0u);
  EXPECT_GT(judged_, 2u * 6u * 64u * kNumbers);
}

// The verdict on these is told here once more, without the table.
TEST_P(SeccompSweep, NoNumberOfAnotherArchitecturePasses) {
  for (const std::uint32_t architecture : kOtherArchitectures) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      for (const std::uint32_t high : {0u, kX32, 0x80000000u, 0xfffffc00u}) {
        ASSERT_EQ(filter_.Run(CallOf(number | high, architecture, {})), kKill)
            << "number " << (number | high) << " architecture " << architecture;
      }
    }
  }
}

TEST_P(SeccompSweep, EveryNumberWithEachOfItsHighBits) {
  for (std::uint32_t number = 0; number < kNumbers; ++number) {
    for (int bit = 10; bit < 32; ++bit) Judge(number | std::uint32_t{1} << bit, AUDIT_ARCH_X86_64, {});
    // -1 to -1024, which a tracer may leave behind.
    Judge(~number, AUDIT_ARCH_X86_64, {});
  }
  EXPECT_EQ(wrong_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Filters, SeccompSweep, testing::Values(FilterKind::kGuest, FilterKind::kCommand));

TEST(SeccompOtherInterfaces, NoX32NumberAndNoNegativeNumberPasses) {
  BpfInterpreter filter(CompileFilter(FilterKind::kGuest));
  for (std::uint32_t number = 0; number < kNumbers; ++number) {
    ASSERT_EQ(filter.Run(CallOf(number | kX32, AUDIT_ARCH_X86_64, {})), kKill) << number;
    ASSERT_EQ(filter.Run(CallOf(~number, AUDIT_ARCH_X86_64, {})), Errno(ENOSYS)) << number;
  }
}

}  // namespace
}  // namespace caisson::plan
