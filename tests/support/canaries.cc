#include "support/canaries.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>

#include "support/caisson_run.h"

namespace caisson::support {
namespace {

constexpr int kBacklog = 64;

// Answers each line with its secrets, halves exchanged, and with what it sees of files and processes. Nothing but the
// shell itself, so that an answer costs next to nothing and the processes are always the same.
constexpr const char* kNeighbour = R"(
while read -r question; do
  read -r file < /home/agent/workspace/secret
  echo "answer $question: ${CANARY#????????????????}${CANARY%????????????????}" \
    "${file#????????????????}${file%????????????????}" \
    /home/agent/* /home/agent/.[!.]* /home/agent/workspace/* /tmp/* /tmp/.[!.]* /dev/shm/* /var/tmp/* /proc/[0-9]* "end of $question"
done
)";

// With the folder's file made before the sandbox starts.
ProgramSpec NeighbourSpec(const TempFolder& folder, const Secret& workspace, const Secret& environment) {
  const std::string path = folder / "workspace";
  EXPECT_EQ(mkdir(path.c_str(), 0755), 0) << path;
  WriteFile(path + "/secret", workspace.text() + "\n");
  ProgramSpec spec = RunSpec({"--workspace", path + ":ro", "--env", "CANARY=" + environment.text(), "--timeout", "24h",
                              "--memory", "64MiB", "--pids", "32"},
                             {"sh", "-c", kNeighbour});
  spec.input = Input::kPipe;
  return spec;
}

os::Fd Listen(int family, const sockaddr* address, socklen_t size) {
  os::Fd listener(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  EXPECT_TRUE(listener.valid());
  EXPECT_EQ(bind(listener.get(), address, size), 0);
  EXPECT_EQ(listen(listener.get(), kBacklog), 0);
  return listener;
}

os::Fd ListenOnLoopback(std::uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  os::Fd listener = Listen(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  port = ntohs(address.sin_port);
  return listener;
}

os::Fd ListenOnAbstract(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return Listen(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), size);
}

int TakeConnections(const os::Fd& listener) {
  int count = 0;
  while (true) {
    const os::Fd connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return count;
    ++count;
  }
}

}  // namespace

Canaries::Canaries()
    : socket_name_("caisson-canary-" + std::to_string(getpid()) + "-" + file_secret_.Answer().substr(0, 8)),
      loopback_(ListenOnLoopback(port_)),
      abstract_(ListenOnAbstract(socket_name_)),
      neighbour_(NeighbourSpec(folder_, workspace_secret_, environment_secret_)) {
  WriteFile(secret_file(), file_secret_.text(), 0600);
  file_ = os::Fd(open(secret_file().c_str(), O_RDONLY | O_CLOEXEC));
  openings_ = os::Fd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  constexpr unsigned kEvents = IN_OPEN | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
  EXPECT_GE(inotify_add_watch(openings_.get(), secret_file().c_str(), kEvents), 0);
  first_answer_ = AskNeighbour();
  const std::string wanted = " " + environment_secret_.Answer() + " " + workspace_secret_.Answer() + " ";
  EXPECT_TRUE(first_answer_.starts_with(wanted)) << "the second sandbox does not answer: " << neighbour_.err();
}

Canaries::~Canaries() {
  neighbour_.CloseInput();
  (void)neighbour_.Wait();
}

std::vector<std::string> Canaries::TakeTouched() {
  std::vector<std::string> touched;
  LookAtFile(touched);
  if (TakeConnections(loopback_) > 0) touched.emplace_back("the listener on the loopback interface got a connection");
  if (TakeConnections(abstract_) > 0) touched.emplace_back("the listener on the abstract socket got a connection");
  LookAtNeighbour(touched);
  if (file_secret_.TakeSeen()) touched.emplace_back("the secret of the host's file is in an output");
  const bool in_workspace = workspace_secret_.TakeSeen();
  if (environment_secret_.TakeSeen() || in_workspace) {
    touched.emplace_back("a secret of the second sandbox is in an output");
  }
  return touched;
}

void Canaries::LookAtFile(std::vector<std::string>& touched) {
  alignas(inotify_event) std::array<char, 4096> events;
  bool opened = false;
  while (read(openings_.get(), events.data(), events.size()) > 0) opened = true;
  if (opened) touched.emplace_back("the secret file was opened, changed or moved");
  std::array<char, 64> content{};
  const ssize_t size = pread(file_.get(), content.data(), content.size(), 0);
  if (size < 0 || std::string_view(content.data(), static_cast<std::size_t>(size)) != file_secret_.text()) {
    touched.emplace_back("the content of the secret file changed");
  }
}

void Canaries::LookAtNeighbour(std::vector<std::string>& touched) {
  const std::string answer = AskNeighbour();
  if (answer.empty()) {
    touched.emplace_back("the second sandbox does not answer");
  } else if (answer != first_answer_) {
    touched.push_back("the second sandbox sees" + answer + "and no longer" + first_answer_);
  }
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(neighbours_workspace())) {
    found += entry.path().filename().string() + " ";
  }
  if (found != "secret ") touched.push_back("the second sandbox's workspace holds " + found);
}

std::string Canaries::AskNeighbour() {
  const std::string question = std::to_string(++questions_);
  const std::string begin = "answer " + question + ":";
  const std::string end = "end of " + question + "\n";
  neighbour_.Write(question + "\n");
  if (!neighbour_.AwaitOutput(end)) return {};
  const std::string& all = neighbour_.out();
  const std::size_t at = all.find(begin);
  if (at == std::string::npos) return {};
  return all.substr(at + begin.size(), all.find(end, at) - at - begin.size());
}

}  // namespace caisson::support
