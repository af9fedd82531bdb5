"""Measurements of ``bindless bench`` in separate interpreters."""

from __future__ import annotations

import subprocess

from ..compiler.process.python_command import python_command, python_environment

__all__ = ["run_python"]


def run_python(code: str, **variables: str) -> tuple[str, bool]:
    """Run a Python program; return its output, or the last line of its error, and whether it succeeds.

    Parameters
    ----------
    variables : str
        Environment variables added to those of this process.
    """
    environment = python_environment(**variables)
    done = subprocess.run(python_command(code), capture_output=True, text=True, env=environment)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1], False
    return done.stdout.strip(), True
