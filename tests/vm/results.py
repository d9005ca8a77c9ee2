"""What came out of each step when it last ran, in build/vm/results-KERNEL.json."""

import json

import images


def path_of(kernel):
    return images.FOLDER / f"results-{kernel}.json"


def read(kernel):
    """[{step, part, passed, skipped}]."""
    path = path_of(kernel)
    return json.loads(path.read_text()) if path.exists() else []


def keep(kernel, steps):
    """Each of `steps` replaces what the file has of it; the others stay."""
    images.FOLDER.mkdir(parents=True, exist_ok=True)
    with images.locked():
        new = {step["step"]: step for step in steps}
        old = [step for step in read(kernel) if step["step"] not in new]
        path_of(kernel).write_text(json.dumps(old + steps, indent=1) + "\n")
