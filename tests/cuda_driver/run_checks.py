"""Run every check of one module of this folder, each in a context of its own: prints {name: null or traceback}.

A process opens one libcuda, the one that BINDLESS_LIBCUDA names.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback

from tests.cuda_driver.driver_rig import Rig


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of kernels is no answer
    module = importlib.import_module(f"tests.cuda_driver.{sys.argv[1]}")
    outcomes: dict[str, str | None] = {}
    for name in sorted(vars(module)):
        if not name.startswith("check_"):
            continue
        try:
            rig = Rig()
            getattr(module, name)(rig)
            rig.close()
            outcomes[name] = None
        except Exception:
            outcomes[name] = traceback.format_exc()
    json.dump(outcomes, answers)
    answers.close()


if __name__ == "__main__":
    main()
