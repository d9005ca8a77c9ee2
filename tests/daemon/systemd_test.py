"""The units of packaging/ under a systemd of their own. Makes users and cgroups, so only in a machine of tests/vm.

That systemd is the first process of new pid, mount and cgroup namespaces, as in a container, with the whole of a cgroup2
tree for itself.
"""

import os
import pathlib
import re
import subprocess
import unittest

import node

HOME = pathlib.Path(os.environ.get("CAISSON_BIN", "/opt/caisson/bin/caisson")).parent.parent
UNITS = "/run/systemd/system"
TREE = pathlib.Path("/sys/fs/cgroup/systemd_test")
LOG = "/run/systemd_test.log"
DAEMON_UID = 1879048193
# What sysinit.target wants that has nothing to do here.
MASKED = ("dev-hugepages.mount dev-mqueue.mount kmod-static-nodes.service sys-kernel-debug.mount sys-kernel-tracing.mount "
          "systemd-binfmt.service systemd-firstboot.service systemd-journal-flush.service "
          "systemd-machine-id-commit.service systemd-modules-load.service systemd-random-seed.service "
          "systemd-sysctl.service systemd-sysusers.service systemd-tmpfiles-setup-dev.service "
          "systemd-tmpfiles-setup.service systemd-udev-trigger.service systemd-udevd.service "
          "systemd-update-utmp.service")
START = f"""
set -e
echo 0 > {TREE}/cgroup.procs
exec unshare --fork --kill-child --pid --mount --cgroup --mount-proc sh -ec '
  mount -t tmpfs -o mode=755 tmpfs /run
  umount /sys/fs/cgroup
  mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup
  mkdir -p {UNITS}
  for unit in {MASKED}; do ln -s /dev/null {UNITS}/$unit; done
  printf "[Unit]\\nDefaultDependencies=no\\n" > {UNITS}/quiet.target
  exec env container=other /lib/systemd/systemd --unit=quiet.target --log-target=console
'
"""


class Host:
    """A host with systemd, on which Caisson is installed."""

    def __enter__(self):
        TREE.mkdir()
        pathlib.Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+cpu +memory +pids")
        with open(LOG, "wb") as log:
            self.process = subprocess.Popen(["sh", "-c", START], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if node.await_none(lambda: self.process.poll() is None and not self.answers(), 60) or self.process.poll() is not None:
            raise AssertionError(f"systemd does not start: {pathlib.Path(LOG).read_text(errors='replace')[-4000:]}")
        # A cgroup with processes gives its children no controllers.
        pathlib.Path("/sys/fs/cgroup/cgroup.procs").write_text(str(self.process.pid))
        self.install()
        return self

    def __exit__(self, kind, error, trace):
        self.process.kill()
        self.process.wait()
        folders = sorted(TREE.rglob("*/"), key=lambda path: -len(path.parts))
        node.await_none(lambda: [path for path in (*folders, TREE) if path.is_dir() and not removed(path)], 20)

    def answers(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.first = int(children[0]) if children else None
        return self.first is not None and self.does("systemctl", "list-units").returncode == 0

    def install(self):
        """As cmake --install does, and the guide says to go on."""
        units = HOME / "packaging"
        service = (units / "caisson.service.in").read_text().replace("@CAISSON_COMMAND@", str(HOME / "bin" / "caisson"))
        self.must("sh", "-c", f"cat > {UNITS}/caisson.service", text=service)
        self.must("sh", "-c", f"cat > {UNITS}/caisson.socket", text=(units / "caisson.socket").read_text())
        self.must("systemd-sysusers", "-", text=(units / "caisson.sysusers").read_text())
        self.must("systemctl", "daemon-reload")
        self.must("systemctl", "enable", "--now", "--runtime", "caisson.socket")

    def does(self, *command, text=None):
        enter = ["nsenter", "-t", str(self.first), "-m", "-p", "-C", "-r", "-w"]
        return subprocess.run([*enter, *command], input=text, capture_output=True, text=True, timeout=120, check=False)

    def must(self, *command, text=None):
        done = self.does(*command, text=text)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}{self.told()}")
        return done.stdout

    def told(self):
        return self.does("systemctl", "status", "caisson.service", "--no-pager").stdout

    def caisson(self, *command):
        return self.must(str(HOME / "bin" / "caisson"), *command)

    def show(self, name):
        return self.must("systemctl", "show", "--value", "-p", name, "caisson.service").strip()

    def status_field(self, name):
        """Of the service's process."""
        status = self.must("cat", f"/proc/{self.show('MainPID')}/status")
        return next(line for line in status.splitlines() if line.startswith(f"{name}:")).split()[1:]


def removed(folder):
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


class Systemd(unittest.TestCase):
    def test_the_service_and_its_sandboxes(self):
        with Host() as host:
            # The socket is there, and the first client starts the service, which says when it is ready.
            self.assertEqual(host.show("ActiveState"), "inactive")
            host.caisson("create", "one")
            self.assertEqual((host.show("ActiveState"), host.show("SubState")), ("active", "running"))
            self.check_rights(host)
            host.caisson("exec", "one", "--", "sh", "-c", "while sleep 0.2; do echo x >> beats; done > /dev/null 2>&1 &")
            first = host.show("MainPID")

            # An upgrade leaves what runs alone, and so does a daemon that is killed.
            host.must("systemctl", "restart", "caisson.service")
            second = host.show("MainPID")
            self.assertNotEqual(first, second)
            self.check_beats(host)
            host.must("systemctl", "kill", "--signal=KILL", "--kill-who=main", "caisson.service")
            self.assertFalse(node.await_none(lambda: host.show("MainPID") in ("0", second), 60), host.told())
            self.assertFalse(node.await_none(lambda: host.show("ActiveState") != "active", 60), host.told())
            self.check_beats(host)
            self.assertEqual(host.show("NRestarts"), "1")

            # Stopped, it comes back with the next client.
            host.must("systemctl", "stop", "caisson.service")
            self.assertEqual(host.show("ActiveState"), "inactive")
            self.check_beats(host)
            self.assertEqual(host.show("ActiveState"), "active")

            # Nothing is left when it is removed as the guide says.
            host.caisson("delete", "one")
            host.must("systemctl", "disable", "--now", "--runtime", "caisson.socket", "caisson.service")
            self.assertFalse(node.await_none(caissons, 30))
            host.caisson("purge", "--yes")
            self.assertFalse(os.path.exists("/var/lib/caisson"))

    def check_rights(self, host):
        self.assertEqual(set(host.status_field("Uid")), {str(DAEMON_UID)})
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(host.status_field(name)[0], 16), 0, name)
        self.assertEqual(host.status_field("NoNewPrivs"), ["1"])
        self.assertRegex(host.must("id", "-un", str(DAEMON_UID)), "^caisson$")

    def check_beats(self, host):
        """What the sandbox did before goes on, and more can be done."""
        count = int(host.caisson("exec", "one", "--", "wc", "-l", "beats").split()[0])

        def stands_still():
            return int(host.caisson("exec", "one", "--", "wc", "-l", "beats").split()[0]) <= count

        self.assertFalse(node.await_none(stands_still, 30))
        self.assertTrue(re.search(r"^sb_\w+ +one +running", host.caisson("list"), re.MULTILINE))


def caissons():
    return subprocess.run(["pgrep", "^caisson"], capture_output=True, text=True, check=False).stdout.split()


if __name__ == "__main__":
    node.require_root()
    node.require_machine("makes users and cgroups")
    unittest.main()
