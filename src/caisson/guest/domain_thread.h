#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "caisson/base/result.h"
#include "caisson/os/landlock.h"

namespace caisson::guest {

// A thread that has entered Landlock rules, so that what it clones is born under them: entering copies every rule, and
// takes longer than starting a program when there are thousands. A process that is cloned like this may trace another
// one of the same thread, as without rules. Kernel: credentials belong to threads, landlock(7).
class DomainThread {
 public:
  // Errors: kResourceExhausted (no more threads), and those of landlock_restrict_self(2).
  static Result<std::unique_ptr<DomainThread>> Start(const os::LandlockRules& rules);
  // Ends the thread; what it cloned goes on.
  ~DomainThread();
  DomainThread(const DomainThread&) = delete;
  DomainThread& operator=(const DomainThread&) = delete;

  // Runs `work` in the thread, and returns when it is done. One caller at a time.
  void Run(const std::function<void()>& work);

 private:
  DomainThread() = default;
  static void* Serve(void* self);
  void Serve();

  pthread_t thread_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  // to be done, while it is set
  bool ends_ = false;
};

}  // namespace caisson::guest
