"""What is measured, part two: OCI runtimes, each container of a bundle made once, and Docker Engine."""

import itertools
import json
import os
import pathlib
import signal
import subprocess

import processes
from peers import INSIDE, MEMORY_BYTES, PIDS, Peer, first_line, need
from processes import Failed

DEADLINE_S = 30
START_DEADLINE_S = 60
DOCKER_REMEDY = "Debian's package docker.io"
NAMESPACES = ("pid", "network", "ipc", "uts", "mount")
SLEEP = ["/bin/sleep", "3600"]


def bind(source, target, mode="ro"):
    return {"destination": target, "type": "bind", "source": source, "options": ["rbind", mode, "nosuid", "nodev"]}


def container(argv, root, workspace, cgroup, limits):
    """The config.json of a bundle: what `spec` of the runtimes makes, with our mounts and limits."""
    linux = {"namespaces": [{"type": name} for name in NAMESPACES],
             "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware"],
             "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
             "cgroupsPath": cgroup, "resources": limits}
    nobody = {name: [] for name in ("bounding", "effective", "permitted", "inheritable", "ambient")}
    return {
        "ociVersion": "1.0.2",
        "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": argv, "cwd": "/", "noNewPrivileges": True,
                    "env": [f"{name}={value}" for name, value in processes.ENVIRONMENT.items()],
                    "capabilities": nobody},
        "root": {"path": root, "readonly": True},
        "hostname": "caisson",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]},
            bind("/usr", "/usr"), bind("/etc", "/etc"), bind(workspace, INSIDE)],
        "linux": linux,
    }


class Container:
    """A container that runs detached: no process of the runtime has to stay for it, unless the runtime says so."""

    def __init__(self, runtime, name):
        self.runtime, self.name = runtime, name

    def stop(self):
        processes.run_and_reap([*self.runtime.command, "delete", "--force", self.name], DEADLINE_S)


class Runtime(Peer):
    """A program with the command line of runc."""

    joins = True
    options = ()
    limits = {"memory": {"limit": MEMORY_BYTES}, "pids": {"limit": PIDS}}
    facts = {"user namespace": "no", "network": "none", "limits": "memory, pids", "system call filter": "none",
             "root file system": "read-only, /tmp in memory", "says what changed": "no"}

    def prepare(self, place):
        self.state = place.make_folder(self.short_name + "-state")
        self.bundles = pathlib.Path(place.make_folder(self.short_name + "-bundles"))
        self.root = place.make_root()
        self.workspace_source = place.workspace
        self.cgroup = f"/{place.cgroup}/{self.short_name}"
        self.counter = itertools.count()
        self.prefix = []
        self.program = self.find(place)
        self.version = first_line([self.program, "--version"]).split()[-1]
        self.set_up_host(place)

    def find(self, place):
        return need(self.short_name)

    def set_up_host(self, place):
        pass

    @property
    def command(self):
        return [*self.prefix, self.program, *self.options, "--root", self.state]

    def bundle(self, name, argv):
        """A new bundle for one container. Made before the time is taken."""
        folder = self.bundles / name
        folder.mkdir()
        config = container(argv, self.root, self.workspace_source, f"{self.cgroup}/{name}", self.limits)
        (folder / "config.json").write_text(json.dumps(config))
        return str(folder)

    def next_name(self):
        return f"caisson-peers-{os.getpid()}-{self.short_name}-{next(self.counter)}"

    def once(self, argv):
        name = self.next_name()
        return [*self.command, "run", "--bundle", self.bundle(name, argv), name]

    def keep_alive(self, deadline_s):
        name = self.next_name()
        with processes.Diagnostics() as diagnostics:
            # Not through a pipe: what runs in the container would hold it open.
            argv = [*self.command, "run", "--detach", "--bundle", self.bundle(name, SLEEP), name]
            processes.time_once(argv, diagnostics, deadline_s)
        return Container(self, name)

    def inside(self, alive, argv):
        return [*self.command, "exec", alive.name, *argv]

    def close(self):
        """Deletes containers that a measure which was broken off left."""
        try:
            left = processes.output_of([*self.command, "list", "--quiet"], DEADLINE_S)[0].split()
        except (Failed, AttributeError):  # AttributeError: prepare did not come that far
            return
        for name in left:
            Container(self, name).stop()


class Runc(Runtime):
    name = short_name = "runc"


class Crun(Runtime):
    """It refuses hybrid cgroups. There it gets a mount namespace in which only cgroup2 is mounted, and no limits."""

    name = short_name = "crun"
    holder = None

    def set_up_host(self, place):
        if not os.path.isdir("/sys/fs/cgroup/unified"):
            return
        self.facts = self.facts | {"limits": "none (this host's cgroups are hybrid)"}
        self.limits = {}
        script = ("mount --make-rprivate / && umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && "
                  "echo ready && exec sleep infinity")
        self.holder = processes.Background([need("unshare"), "--mount", "/bin/sh", "-c", script], DEADLINE_S)
        self.prefix = [need("nsenter"), f"--mount=/proc/{self.holder.pid}/ns/mnt", "--"]

    def holders(self):
        return {self.holder.pid} if self.holder else set()

    def close(self):
        super().close()
        if self.holder:
            self.holder.stop()


class Runsc(Runtime):
    """gVisor: a kernel in user space between the programs and the host's."""

    name = "gVisor (runsc)"
    short_name = "runsc"
    costly = True
    facts = Runtime.facts | {"system call filter": "yes; another kernel"}

    def find(self, place):
        ours = place.inputs / "runsc"
        return str(ours) if ours.exists() else need("runsc")

    def set_up_host(self, place):
        for platform in ("systrap", "ptrace"):
            self.options = (f"--platform={platform}", "--network=none")
            try:
                processes.output_of(self.once(["/bin/true"]), DEADLINE_S)
            except Failed as error:
                reason = error
                continue
            self.version += f", {platform}"
            return
        raise Failed(f"runsc runs nothing here: {reason}")


class DockerContainer:
    def __init__(self, docker, name):
        self.docker, self.name = docker, name

    def stop(self):
        processes.output_of([*self.docker.command, "rm", "--force", self.name], DEADLINE_S)


class Docker(Peer):
    """Docker Engine, when one answers or one may be started: beside the host's network, with folders of its own."""

    name = "Docker Engine"
    joins = True
    costly = True
    start_daemon = False
    daemon = None
    image = None
    facts = {"user namespace": "no", "network": "none", "limits": "memory, pids, CPU", "system call filter": "yes",
             "root file system": "read-only, /tmp in memory", "says what changed": "with `docker diff`"}

    def prepare(self, place):
        self.source = place.workspace
        self.cgroup = "/" + place.cgroup
        self.label = f"caisson-peers={os.getpid()}"
        self.counter = itertools.count()
        self.command = [need("docker", DOCKER_REMEDY)]
        if self.start_daemon:
            self.start(place)
        elif host := os.environ.get("DOCKER_HOST"):
            self.command += ["--host", host]
        try:
            said = processes.output_of([*self.command, "version", "--format", "{{.Server.Version}}"], 10)[0]
        except Failed:
            raise Failed("no Docker Engine answers (--start-docker starts one, with docker.io installed)") from None
        driver = processes.output_of([*self.command, "info", "--format", "{{.Driver}}"], DEADLINE_S)[0].strip()
        self.version = f"{said.strip()}, {driver}"
        self.import_root(place.make_root())

    def start(self, place):
        folder = pathlib.Path(place.make_folder("docker"))
        host = f"unix://{folder}/socket"
        # A network namespace of its own: a daemon has an opinion about the host's packet filter.
        argv = [need("unshare"), "--net", "--", need("dockerd", DOCKER_REMEDY), "--data-root", str(folder / "data"),
                "--exec-root", str(folder / "run"), "--pidfile", str(folder / "pid"), "--host", host,
                "--bridge=none", "--iptables=false", "--ip6tables=false", "--config-file", str(folder / "none.json")]
        (folder / "none.json").write_text("{}")
        self.log = open(folder / "log", "wb")
        self.daemon = processes.popen(argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.command += ["--host", host]
        waiting = 'until "$@" version >/dev/null 2>&1; do sleep 0.2; done'
        try:
            processes.output_of(["/bin/sh", "-c", waiting, "sh", *self.command], START_DEADLINE_S)
        except Failed:
            raise Failed("dockerd did not answer: " + processes.one_line((folder / "log").read_text())) from None

    def import_root(self, root):
        tar = processes.popen([need("tar"), "-C", root, "-cf", "-", "."], stdout=subprocess.PIPE)
        try:
            said = processes.output_of([*self.command, "import", "-"], DEADLINE_S, stdin=tar.stdout)[0]
            self.image = said.strip()
        finally:
            tar.stdout.close()
            tar.wait()

    def arguments(self, argv):
        shown = ("/usr:/usr:ro", "/etc:/etc:ro", f"{self.source}:{INSIDE}:ro")
        volumes = [part for volume in shown for part in ("-v", volume)]
        return ["--network=none", "--read-only", "--tmpfs", "/tmp:exec", *volumes, "--memory", str(MEMORY_BYTES),
                "--pids-limit", str(PIDS), "--cpus=2", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                "--cgroup-parent", self.cgroup, "--label", self.label, self.image, *argv]

    def once(self, argv):
        return [*self.command, "run", "--rm", *self.arguments(argv)]

    def keep_alive(self, deadline_s):
        name = f"caisson-peers-{os.getpid()}-{next(self.counter)}"
        processes.output_of([*self.command, "run", "--detach", "--name", name, *self.arguments(SLEEP)], deadline_s)
        return DockerContainer(self, name)

    def inside(self, alive, argv):
        return [*self.command, "exec", alive.name, *argv]

    def processes_besides_ours(self):
        """Shims and containers of a daemon that was there before: the container's id is in their command line."""
        ids = processes.output_of([*self.command, "ps", "--quiet", "--no-trunc", "--filter", "label=" + self.label],
                                  DEADLINE_S)[0].split()
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        shims = {pid for pid in pids if any(one in processes.command_line(pid) for one in ids)}
        return shims.union(*(processes.descendants(pid) for pid in shims))

    def holders(self):
        return {self.daemon.pid} if self.daemon else set()

    def close(self):
        if self.image:
            left = processes.output_of([*self.command, "ps", "--all", "--quiet", "--filter", "label=" + self.label],
                                       DEADLINE_S)[0].split()
            for name in left:
                DockerContainer(self, name).stop()
            processes.output_of([*self.command, "rmi", "--force", self.image], DEADLINE_S)
        if self.daemon:
            below = processes.descendants(self.daemon.pid)
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(20)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait(10)
            processes.end(pid for pid in below if pid in processes.descendants(os.getpid()))
            self.log.close()
