#pragma once

// Kernel constants newer than the C library headers of the oldest system Caisson builds on (Debian 12: Linux 6.1,
// glibc 2.36). Each names the kernel that brought it.

namespace caisson::os::uapi {

inline constexpr unsigned long long kLandlockRefer = 1ULL << 13;     // ABI 2, 5.19
inline constexpr unsigned long long kLandlockTruncate = 1ULL << 14;  // ABI 3, 6.2
inline constexpr unsigned long long kLandlockIoctlDev = 1ULL << 15;  // ABI 5, 6.10

inline constexpr unsigned kMemfdNoexecSeal = 8;  // 6.3

inline constexpr unsigned kBtrfsQuotaEnableSimple = 4;                  // command of BTRFS_IOC_QUOTA_CTL, 6.7
inline constexpr unsigned long long kBtrfsQuotaSimpleMode = 1ULL << 3;  // of a quota status item, 6.7

}  // namespace caisson::os::uapi
