"""Run the groups of checks, and say how many of each pass; options are names of groups."""

from __future__ import annotations

import importlib
import sys
import traceback

from .bindings_rig import use_device

GROUPS = {
    "integers and bits": "integers",
    "IEEE floats": "floats",
    "shared memory and atomics": "shared",
    "warps": "warps",
    "divergence and recursion": "control",
    "textures and surfaces": "images",
    "streams and graphs": "streams",
    "errors": "errors",  # the last: its last check loses the context
}


def main(names: list[str]) -> int:
    use_device()
    failures = 0
    for title, name in GROUPS.items():
        if names and name not in names:
            continue
        module = importlib.import_module(f"{__package__}.{name}")
        checks = [value for key, value in vars(module).items() if key.startswith("check_")]
        passes = 0
        for check in checks:
            try:
                check()
                passes += 1
            except Exception:
                print(f"{title}: {check.__name__}", file=sys.stderr)
                traceback.print_exc()
        failures += len(checks) - passes
        print(f"{title}: {passes} of {len(checks)}")
    return int(failures != 0)


sys.exit(main(sys.argv[1:]))
