#include "caisson/guest/domain_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/base/weakened.h"

namespace caisson::guest {
namespace {

// For a file operation, which a copy of the thread may run.
constexpr std::size_t kStackSize = 256U << 10U;

}  // namespace

Result<std::unique_ptr<DomainThread>> DomainThread::Start(const os::LandlockRules& rules) {
  std::unique_ptr<DomainThread> started(new DomainThread());
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, kStackSize);
    if (error == 0) error = pthread_create(&started->thread_, &attributes, &DomainThread::Serve, started.get());
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    started->thread_ = {};
    return Fail(Error::FromErrno(error, "cannot start a thread"));
  }
  started->Run([&rules, &error] {
    if (Weakened("domain_thread")) return;
    if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) error = errno;
  });
  if (error != 0) return Fail(Error::FromErrno(error, "landlock"));
  return started;
}

DomainThread::~DomainThread() {
  if (thread_ == pthread_t{}) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

void DomainThread::Run(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void* DomainThread::Serve(void* self) {
  static_cast<DomainThread*>(self)->Serve();
  return nullptr;
}

void DomainThread::Serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ != nullptr || ends_; });
    if (ends_) return;
    (*work_)();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace caisson::guest
