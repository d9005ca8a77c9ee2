#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "caisson/os/identity.h"
#include "caisson/sandbox/sandboxes.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"

// What an engine can no longer do once it has given up root. Each test is a process of its own, since that is for good.

namespace caisson::support {
namespace {

class Privileges : public IntegrationTest {
 protected:
  // The exit status of a forked process that runs `body` with a started engine.
  static int RunAsEngine(int (*body)(sandbox::Sandboxes& sandboxes)) {
    const pid_t pid = fork();
    if (pid == 0) {
      sandbox::EngineOptions options;
      options.program_directory = CaissonPath().substr(0, CaissonPath().rfind('/'));
      const auto sandboxes = sandbox::Sandboxes::Start(options);
      const int status = sandboxes ? body(**sandboxes) : 100;
      _exit(status);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static sandbox::SandboxSpec WithWorkspace() {
    sandbox::SandboxSpec spec;
    spec.workspace =
        sandbox::Workspace{os::Fd(open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), plan::WorkspaceMode::kReadWrite};
    return spec;
  }
};

TEST_F(Privileges, AFolderIsTakenWhileTheEngineIsRoot) {
  EXPECT_EQ(RunAsEngine([](sandbox::Sandboxes& sandboxes) { return sandboxes.Create(WithWorkspace()) ? 0 : 1; }), 0);
}

TEST_F(Privileges, NoFolderIsTakenAfterItHasGivenUpRoot) {
  EXPECT_EQ(RunAsEngine([](sandbox::Sandboxes& sandboxes) {
              if (!sandboxes.GiveUpPrivileges()) return 1;
              if (getuid() != os::kEngineUid || geteuid() != os::kEngineUid) return 2;
              const auto made = sandboxes.Create(WithWorkspace());
              if (made || made.error().code() != Code::kPermissionDenied) return 3;
              return sandboxes.Create({}) ? 0 : 4;
            }),
            0);
}

}  // namespace
}  // namespace caisson::support
