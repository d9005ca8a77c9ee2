#!/usr/bin/env python3
"""Keeps code that runs between clone and exec from allocating, locking, logging or throwing.

Such code lies in *_child.cc. It and its *_child.h may include only headers of the list below. Its compiled object may
refer to no symbol that allocates, locks, logs or throws, and to functions of Caisson only when these lie in another
*_child.cc, so that nothing is reached which this lint has not seen.
"""

import argparse
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ALLOWED_HEADERS = re.compile(
    r"""^(
      (sys|linux|asm|asm-generic)/[\w/.-]+\.h
    | (unistd|fcntl|sched|signal|errno|poll|time|grp|stdint|stddef|stdlib|string|limits|elf|dirent)\.h
    | c(errno|stdint|stddef|signal|string|limits|time)
    | array|bit|cstdlib|initializer_list|iterator|limits|span|string_view|tuple|type_traits|utility
    | caisson/plan/[\w]+\.h
    | caisson/[\w/]+_child\.h
    | caisson/os/(uapi|syscall|syscalls|raw_syscall)\.h
    | caisson/base/(units|weakened)\.h
    )$""",
    re.VERBOSE,
)

# Matched against demangled names at their start.
FORBIDDEN = re.compile(
    r"""^(
      (__libc_)?(malloc|calloc|realloc|free|memalign|aligned_alloc|posix_memalign|strdup|strndup|getline)(\b|$)
    | operator\ (new|delete)
    | __cxa_|_Unwind_|__gxx_personality|std::terminate|std::__throw_
    | pthread_|__pthread|mtx_|cnd_|__lll_lock|std::(mutex|condition_variable|thread|unique_lock)
    | (__)?(v?[fsd]?n?printf|v?as?printf|v?syslog|puts|fputs|fputc|putc|putchar|fwrite|fflush|fopen|fdopen|perror)(_chk)?(\b|$)
    | opendir|readdir|closedir|fdopendir|scandir|nftw|ftw|realpath
    | getpw|getgr|initgroups|getaddrinfo|gethostby|dlopen|dlsym|setenv|putenv|unsetenv|getenv|localtime|mktime|tzset
    | atexit|__cxa_atexit|exit$|strerror$|qsort|setlocale|error$|warn$|err$
    | setuid$|setgid$|setgroups$|setresuid$|setresgid$|setreuid$|setregid$|seteuid$|setegid$
    | std::(__cxx11::)?(basic_string|allocator|vector|map|ios_base|basic_ostream|cout|cerr|clog|function|filesystem)
    | VTT\ for\ std|vtable\ for\ std|testing::
    )""",
    re.VERBOSE,
)
WHY = {
    "set": "glibc's wrapper signals all threads under a lock; use the system call itself",
}


def include_findings(path, shown):
    text = path.read_text()
    own = path.with_suffix(".h").name
    for match in INCLUDE.finditer(text):
        target = match.group(1)
        if not ALLOWED_HEADERS.match(target) and target.rsplit("/", 1)[-1] != own:
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{shown}:{line}: <{target}> is not on the list of headers for code between clone and exec"


def symbols(nm_option, path):
    """Demangled symbols of an object, with their nm type."""
    listing = subprocess.run(["nm", "--demangle", nm_option, "--format=posix", path], capture_output=True, text=True,
                             check=True)
    for line in listing.stdout.splitlines():
        match = re.match(r"^(.*?) ([A-Za-z?])( [0-9a-f]+)*\s*$", line)
        if match:
            yield match.group(1), match.group(2)


def object_findings(sources, build, root):
    """`sources` maps each *_child.cc to its object."""
    defined = {name for target in sources.values() for name, _ in symbols("--defined-only", target)}
    for source, target in sources.items():
        shown = source.relative_to(root)
        for name, _ in symbols("--undefined-only", target):
            bare = re.sub(r"@.*", "", name)
            if FORBIDDEN.match(bare):
                why = f" ({WHY['set']})" if re.match(r"set(re)?s?e?[ug]", bare) else ""
                yield f"{shown}: its code refers to {bare}{why}"
            elif bare.startswith("caisson::") and bare not in defined:
                yield f"{shown}: its code refers to {bare}, which is not in a *_child.cc"


def find_objects(sources, build, root):
    found, missing = {}, []
    for source in sources:
        objects = list(build.rglob(f"*/{source.name}.o"))
        wanted = [path for path in objects if source.parent.relative_to(root).as_posix() in path.as_posix()
                  and "weakened_" not in path.as_posix()]
        if wanted:
            found[source] = wanted[0]
        else:
            missing.append(f"{source.relative_to(root)}: no object in {build}: build first")
    return found, missing


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build folder without sanitizers")
    options = parser.parse_args(arguments)

    folder = options.root / "src"
    sources = sorted(folder.rglob("*_child.cc"))
    findings = []
    for path in sources + sorted(folder.rglob("*_child.h")):
        findings += include_findings(path, path.relative_to(options.root))
    objects, missing = find_objects(sources, options.build, options.root)
    findings += missing + list(object_findings(objects, options.build, options.root))
    print("\n".join(findings + [f"lint_child: {len(sources)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
