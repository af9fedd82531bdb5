"""Start and end of child processes.

A child leads a session of its own: Ctrl-C in a terminal reaches the program alone, and the end of the child ends the
processes that it started. Within a worker, tools stay in the worker's session, and end with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from .time_limit import Deadline

__all__ = ["end", "kill", "run_tool", "start", "stay_in_session"]

_leads = True


def stay_in_session() -> None:
    """Start the children of this process, a worker, in its own session."""
    global _leads
    _leads = False


def start(command: Sequence[str], **settings: Any) -> subprocess.Popen[bytes]:
    """Start a process; ``settings`` are those of ``subprocess.Popen``."""
    return subprocess.Popen(command, start_new_session=_leads, **settings)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(OSError):  # it has ended by itself
        if _leads and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started, wait for it, and close its pipes."""
    kill(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def run_tool(command: Sequence[str], deadline: Deadline) -> subprocess.CompletedProcess[bytes]:
    """Run a tool, without input, and return its status and output.

    Raises
    ------
    BuildError
        The time limit passed; the tool has been ended.
    OSError, ValueError
        The command cannot be started.
    """
    step = os.path.basename(command[0])
    seconds = deadline.left(step)
    process = start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        output, messages = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise deadline.error(step) from None
    finally:
        end(process)
    return subprocess.CompletedProcess(command, process.returncode, output, messages)
