// Comes before everything else that is compiled for ThreadSanitizer, which knows pthread_mutex_timedlock and
// pthread_rwlock_timedwrlock, but not the kin that name a clock: a lock taken so would be none to it.
#pragma once

#include <bits/c++config.h>

#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
