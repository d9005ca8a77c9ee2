"""What a machine does: each step is one test of ctest, whole or in part. tests/vm/lint_plan.py compares this with ctest.

Emulation is 10 to 80 times slower than the processor. So the part that depends most on the kernel stands for some
programs, some run on the older kernel only, and others are left out, each with the reason.
"""

import dataclasses

KERNELS = ("6.1", "6.12")

# What `caisson doctor` finds on each: also that the machine is the one it should be. All else must be "ok".
PRIMITIVES = {
    "6.1": {
        "cgroups": "ok: v2 with memory, cpu and pids",
        "landlock": "degraded: ABI 2",
        "memfd_noexec": "degraded: no such setting",
    },
    "6.12": {
        "cgroups": "ok: v2 with memory, cpu and pids",
        "landlock": "ok: ABI 6",
        "memfd_noexec": "ok: 0",
    },
}

# The cases that cannot run on a kernel. One that is skipped and not named here fails, and so does one that runs.
NO_COPIES = ("MountTest.AddsFlagsToOneMountOnly", "MountTest.ShowsOwnersThroughAnIdMap")  # Linux 6.15
NO_WORD_OF_WRITES = ("WatchedLayerTest.AWriteThroughAMappingOfAFileOfTheLayer",
                     "WatchedLayerTest.ASecondNameShowsTheSameWrite",
                     "WatchedLayerTest.WhatIsInARenamedFolderIsFoundWhereItIs")  # Linux 6.8
NO_CONTROL_OF_TRUNCATION = ("KernelPlansTest.WritingIsTruncating",)  # Linux 6.2
SKIPS = {
    "6.1": {*NO_COPIES, *NO_WORD_OF_WRITES, *NO_CONTROL_OF_TRUNCATION},
    "6.12": {*NO_COPIES},
}


@dataclasses.dataclass(frozen=True)
class Step:
    test: str  # as ctest names it
    part: str = "*"  # a filter of GoogleTest; of a script: patterns of unittest, ":" between them
    delegation: bool = True  # whether cgroup2 is mounted with nsdelegate
    only_here: bool = False  # it changes its host, and ctest does not have it
    kernels: tuple = KERNELS
    seconds: int = 300  # of the machine's time: a hang, not a measure

    @property
    def name(self):
        return self.test if self.delegation else f"{self.test} without delegation"

    @property
    def program(self):
        return self.test.replace(".", "_")

    @property
    def is_google_test(self):
        return not self.test.startswith("escape.") and self.script is None

    @property
    def script(self):
        """The name of the file in tests/daemon, of a test that is one."""
        prefix = "integration.node_"
        return f"{self.test.removeprefix(prefix)}_test.py" if self.test.startswith(prefix) else None

    @property
    def has_cases(self):
        """Whether it tells what became of each."""
        return self.is_google_test or self.script is not None


def steps_of(kernel):
    return [step for step in STEPS if kernel in step.kernels]


OLDER, NEWER = KERNELS[:1], KERNELS[1:]

STEPS = (
    Step("os.blocked_call_test"),
    Step("os.btrfs_test"),
    Step("os.cgroup_owned_test"),
    Step("os.cgroup_test"),
    Step("os.fd_test"),
    Step("os.mount_test"),
    Step("os.poll_test"),
    Step("os.probe_test"),
    Step("os.socket_test"),
    Step("guest.as_user_test"),
    Step("guest.domain_thread_test"),
    Step("guest.file_operation_test"),
    Step("guest.kernel_plans_test"),
    Step("storage.btrfs_layers_test", "*TheKernelHolds*:*OneLayer*:*Snapshots*:*KilledProcesses*:*HoldsAnOverlay*",
         kernels=OLDER),
    Step("storage.btrfs_store_test", kernels=NEWER),
    Step("storage.change_histories_test", "*ByWhatWasTouched", kernels=NEWER),
    Step("storage.collection_test"),
    Step("storage.host_image_test"),
    Step("storage.inventory_test"),
    Step("storage.purge_test"),
    Step("storage.tracked_layer_test", "-*ALongList*:*VeryDeep*:*ALostQueue*"),
    Step("escape.control"),
    Step("escape.agent"),
    Step("escape.root"),
    Step("escape.crash"),
    Step("integration.run_outcomes"),
    Step("integration.run_limits", "*Disk*:*MemoryOfAChild*:*WhoseFirstProcess*", kernels=OLDER),
    Step("integration.run_signals"),
    Step("integration.run_streams", kernels=NEWER),
    Step("integration.run_workspace", "*ACopyBuilds*:*ReadWrite*", kernels=NEWER),
    Step("integration.privileges"),
    Step("integration.posture", "*/0", kernels=NEWER),
    Step("integration.keep", "*ShowsWhatChanged/btrfs:*IsNobodysLeftOver/btrfs"),
    Step("integration.lifecycle", "*AKilledLauncher*:*TheEngineHolds*:*TheStorageProcess*"),
    Step("integration.takeover"),
    Step("integration.node_lifecycle"),
    Step("integration.node_policy", "*an_allowed*:*kernel_holds*:*outlive*"),
    Step("integration.node_tools", "*follow_the_policy*"),
    Step("integration.node_restart", "*a_long_command*:*ends_and_comes_back*:*limits_hold*:*a_killed_guest*:*without*"),
    Step("integration.node_stop", "*come_back*:*a_paused_one*:*launcher_is_killed*"),
    Step("integration.node_hostile", "*goes_away*:*stuck_sandbox*:*no_request*", kernels=OLDER),
    Step("integration.node_clock", only_here=True, kernels=NEWER),
    Step("integration.node_systemd", only_here=True, kernels=NEWER),
    Step("integration.policy_corpus", kernels=OLDER),
    Step("integration.policy_field", kernels=OLDER),
    Step("integration.policy_posture"),
    Step("integration.policy_programs"),
    Step("integration.policy_rm"),
    Step("integration.policy_work", "-*VirtualEnvironment*:*Pip*:*CMake*"),
    Step("integration.changes_run", "*RenameAFolder_btrfs:*ReplaceAFolderByAFile_tmpfs:*WriteThroughAMapping_*",
         kernels=OLDER),
    Step("integration.changes_library", "*AreThoseOfOneCommand/*:*ThroughAMapping/*"),
    # Last, so that cgroup2 is mounted again only once.
    Step("os.cgroup_test", delegation=False),
    Step("os.cgroup_owned_test", delegation=False),
    Step("escape.agent", delegation=False),
    Step("integration.run_outcomes", "*ATimeoutEnds*:*ExitStatus*:*JsonHas*", delegation=False),
)

SLOW = "minutes of emulation for what depends little on the kernel"
# Expressions on the names of tests, and why no machine runs them.
LEFT_OUT = {
    r"(api|audit|base|cli|client|daemon|document|guard|hint|http|json|plan|policy|proto|backend|record|rest|sandbox|service|shell|state|template|tool|bench|demo|fuzz|wire)[.].*":
        "the kernel has no part in it",
    r"launcher[.](door|launch_request|succession)_test": "sockets and books, for which the kernel does not matter",
    r"(guest[.](line_search|path_glob|program_index_message|smallest_names)|os[.]program_(file|index))_test": "the kernel has no part in it",
    r"guest[.](list_tree|search_files)_test": "openat and getdents, for which the kernel does not matter",
    r"storage[.](kept_record|returning_layer)_test": "the kernel has no part in it",
    r"storage[.](store_upkeep|remove_tree|tree_usage|uid_blocks)_test": SLOW,
    r"storage[.](folder_copy|folder_copy_hostile|public_copy)_test": SLOW,
    r"integration[.](churn|collect|hostile_workspace|init_attacks)": SLOW,
    r"integration[.](image_directory|policy_image|library_(commands|files|input_wait|terminal))": SLOW,
    r"integration[.](run_bad_input|run_policy|run_template|hints)": "refusals and texts, for which the kernel does not matter",
    r"escape[.](background|terminal)": "the probes of the other two, started another way",
    r"integration[.]node_kills": SLOW,
    r"escape[.]layer_race": SLOW,
    r"fault[.].*": "stops at every system call, which takes many minutes in emulation",
    r"integration[.]canaries": "tests the tests' own canaries, which live beside every test here too",
    r"integration[.]demo": "shows what the others test",
    r"integration[.]host_state": "tests the tests' own count of left-overs",
    r"integration[.]node_no_room": "a full disk, for which the kernel does not matter",
    r"integration[.]field_.*": "drives the daemon as the tests before",
    r"integration[.]real_work": "projects that the machine does not have",
}
