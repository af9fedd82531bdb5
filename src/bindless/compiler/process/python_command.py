"""Command line of a Python process: it imports what this process imports, and nothing of the current folder.

``python -c`` would put the current folder first on ``sys.path``, so that a file ``numba.py`` or ``json.py`` there would
run. The new process has the options of this one (``-I``, ``-E``, ``-s``, ``-S``, ``-B``) and its ``sys.path``, without
the current folder unless ``PYTHONPATH`` or an installation names it. This package is found in any folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ...model.errors import FeatureNotSupportedError

__all__ = ["current_folder", "python_command", "python_environment"]

# Until sys.path is set, only built-in modules and those of the interpreter's own start are imported.
_START = """\
import sys
own = [path for path in sys.path if path]
sys.path[:] = own
import os
code, count, here, root, *rest = sys.argv[1:]
given, sys.argv[1:] = rest[int(count):], rest[:int(count)]
sys.path[:] = [path for path in given if path in own or os.path.realpath(path) != here]
sys.path.append(root)
import bindless
sys.path.pop()
exec(compile(code, "<bindless>", "exec"), {"__name__": "__main__"})
"""
_FLAGS = (("no_site", "-S"), ("dont_write_bytecode", "-B"))
_NARROWER = (("ignore_environment", "-E"), ("no_user_site", "-s"), ("safe_path", "-P"))


def python_command(code: str, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command that runs a program in another Python process.

    Parameters
    ----------
    code
        The program.
    arguments
        Its ``sys.argv[1:]``.

    Raises
    ------
    FeatureNotSupportedError
        The interpreter does not know its own file, as in some programs that embed Python.
    """
    if not sys.executable:
        raise FeatureNotSupportedError("sys.executable is empty: no other Python process can be started from here")
    isolated = sys.flags.isolated
    options = ["-I"] if isolated else [option for name, option in _NARROWER if getattr(sys.flags, name, False)]
    options += [option for name, option in _FLAGS if getattr(sys.flags, name)]
    if sys.version_info >= (3, 11) and not isolated and "-P" not in options:
        options.append("-P")
    here = current_folder()
    path = [entry for entry in map(_absolute, sys.path) if entry]
    root = str(Path(__file__).parents[3])
    return [
        sys.executable, *options, "-c", _START, code, str(len(arguments)), os.path.realpath(here) if here else "",
        root, *arguments, *path,
    ]  # fmt: skip


def python_environment(**variables: str) -> dict[str, str]:
    """Return the environment of the process; ``PYTHONPATH`` keeps its meaning in another folder.

    Parameters
    ----------
    variables
        Added to those of this process.
    """
    environment = {**os.environ, **variables}
    path = os.environ.get("PYTHONPATH", "")
    if path:
        folders = [_absolute(entry or os.curdir) for entry in path.split(os.pathsep)]
        environment["PYTHONPATH"] = os.pathsep.join(folder for folder in folders if folder)
    return environment


def current_folder() -> str:
    """Return the current folder; empty where it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _absolute(entry: object) -> str:
    """Return an entry of ``sys.path`` that does not depend on the current folder; empty where there is none."""
    if not isinstance(entry, str) or not entry:
        return ""
    try:
        return os.path.abspath(entry)
    except OSError:
        return ""
