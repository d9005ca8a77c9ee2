"""Compares the two runs of a project, keeps the results and writes docs/real-work.md from them and the manifest."""

import fcntl
import json

from real import counts, manifest

RESULTS = manifest.FOLDER / "results.json"
PAGE = manifest.ROOT / "docs" / "real-work.md"
COMMAND = "./dev real"

HEAD = """<!-- Made by `./dev real` from tests/real/projects.toml and tests/real/results.json; do not edit. -->
# Real work

Public projects, unmodified as their registries have them, built and tested on the host as an ordinary user and in a sandbox as
`agent`: the same uid, path, environment and script. The sandbox has no network and sees `/usr` of the host; what a project
depends on was fetched before. Tests are compared by name. `./dev setup --real` fetches the projects and installs Debian's tool
chains, `./dev real [NAME...]` runs them and writes this page; the pins and scripts are in
[projects.toml](../tests/real/projects.toml).

Time is that of build and tests, one run each: an indication, not a measurement. On a host that is busy otherwise it says little:
all sandboxes together then get the processor share of one session.

"""

TABLE = ("| Project | Language | Stresses | Outside | Inside | Time outside | Inside/outside | Differences |\n"
         "|---|---|---|---|---|--:|--:|---|\n")


def outcome_of(run, name):
    return run.outcomes.get(name, "absent")


def compare(outside, inside):
    """[(test, outcome outside, outcome inside)] of the tests that differ."""
    names = sorted(set(outside.outcomes) | set(inside.outcomes))
    pairs = [(name, outcome_of(outside, name), outcome_of(inside, name)) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def side(run):
    return {"exit": run.exit_status, "seconds": round(run.seconds, 1),
            **{word: run.count(word) for word in (counts.PASSED, counts.FAILED, counts.SKIPPED)}}


def result_of(project, outside, inside):
    return {"version": project.version, "outside": side(outside), "inside": side(inside),
            "differences": [list(pair) for pair in compare(outside, inside)]}


def complaints(project, result):
    """What makes the result of a project not acceptable."""
    if result is None:
        return [f"{project.name}: no result; {COMMAND} {project.name}"]
    found = []
    if result["version"] != project.version:
        found.append(f"{project.name}: the result is of {result['version']}; {COMMAND} {project.name}")
    if not result["outside"]["passed"]:
        found.append(f"{project.name}: no test passed outside")
    unexplained = [name for name, _, _ in result["differences"] if project.explanation(name) is None]
    found += [f"{project.name}: {name} differs and nobody says why" for name in unexplained]
    if result["outside"]["exit"] != result["inside"]["exit"] and not result["differences"]:
        found.append(f"{project.name}: exit status {result['outside']['exit']} outside, {result['inside']['exit']} inside")
    return found


def counts_text(one):
    text = f"{one['passed']} passed"
    if one["failed"]:
        text += f", {one['failed']} failed"
    if one["skipped"]:
        text += f", {one['skipped']} skipped"
    return text


def row(project, result):
    outside, inside = result["outside"], result["inside"]
    number = len(result["differences"])
    return (f"| {project.name} {project.version} | {project.language} | {project.stresses} | {counts_text(outside)} "
            f"| {counts_text(inside)} | {outside['seconds']:.0f} s | {inside['seconds'] / outside['seconds']:.2f} "
            f"| {number or 'none'} |\n")


def details(project, result):
    """Lines on what differs and what a reader must know."""
    lines = [f"- {project.about}"] if project.about else []
    by_reason = {}
    for name, outside, inside in result["differences"]:
        why = project.explanation(name) or "unexplained"
        by_reason.setdefault(why, []).append(f"`{name}` ({outside} → {inside})")
    lines += [f"- {why}\n  {', '.join(tests)}" for why, tests in by_reason.items()]
    return lines


def render(projects, results):
    known = [(project, results[project.name]) for project in projects if project.name in results]
    total = {place: {word: sum(result[place][word] for _, result in known) for word in counts.WORST}
             for place in ("outside", "inside")}
    text = HEAD + TABLE + "".join(row(project, result) for project, result in known)
    text += (f"\n{len(known)} projects. Outside: {counts_text(total['outside'])}. Inside: {counts_text(total['inside'])}.\n")
    if waiting := [project.name for project in projects if project.name not in results]:
        text += f"\nPinned in the manifest, but without a result yet: {', '.join(waiting)}.\n"
    text += "\n## Notes\n\nA test in brackets went from the first outcome outside to the second inside.\n"
    for project, result in known:
        if lines := details(project, result):
            text += f"\n### {project.name}\n\n" + "\n".join(lines) + "\n"
    return text


def load():
    return json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}


def save(projects, results):
    """Keeps the results of what is in the manifest, in its order, and writes the page."""
    kept = {project.name: results[project.name] for project in projects if project.name in results}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(render(projects, kept))


def add(project, result):
    """Saves one more result; another run may add its own meanwhile, and the manifest grow."""
    manifest.INPUTS.mkdir(parents=True, exist_ok=True)
    with (manifest.INPUTS / "results.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        save(manifest.load(), {**load(), project.name: result})


def check(projects, results, page):
    """What does not fit together: manifest, results and the page. A project without a result is one the page says so of."""
    found = [line for project in projects if project.name in results for line in complaints(project, results[project.name])]
    names = {project.name for project in projects}
    found += [f"{name}: a result without a project" for name in results if name not in names]
    if not found and render(projects, results) != page:
        found.append(f"{PAGE.name} is not what the manifest and the results make; run tools/real_work.py page")
    return found
