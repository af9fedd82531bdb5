"""A process that runs checks of the Level Zero driver: it opens the loader once, with its initial environment.

It reads lines of the form ``module function`` and answers each with one line of JSON: null, or the traceback.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of drivers and kernels is no answer
    from tests.level_zero_driver.rig import Rig

    rig: Rig | None = None
    for line in sys.stdin:
        module, name = line.split()
        failure = None
        try:
            rig = rig or Rig()
            getattr(importlib.import_module(f"tests.level_zero_driver.{module}"), name)(rig)
            rig.close()
        except BaseException:
            failure = traceback.format_exc()
            rig = None
        print(json.dumps(failure), file=answers)
    answers.close()


if __name__ == "__main__":
    main()
