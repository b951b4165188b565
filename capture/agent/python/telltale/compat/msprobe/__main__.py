# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs what was written for msprobe: `python -m telltale.compat.msprobe SCRIPT ...` or `... -m MODULE ...`. What an
installed msprobe has stays its own."""

from __future__ import annotations

import importlib
import importlib.util
import runpy
import sys

from . import TOOLS, install

_USAGE = "usage: python -m telltale.compat.msprobe SCRIPT | -m MODULE [ARGUMENTS ...]"


def _is_installed(name: str) -> bool:
    """Of msprobe's or anybody's."""
    try:
        return None not in (importlib.util.find_spec(name.partition(".")[0]), importlib.util.find_spec(name))
    except ImportError:
        return False


def main() -> int:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help") or words == ["-m"]:
        print(_USAGE, file=sys.stderr)
        return 0 if words and words != ["-m"] else 2
    if words[0] != "-m":
        run_script: int = importlib.import_module("telltale.msprobe").run_script()
        return run_script
    name = words[1]
    if name in TOOLS and not _is_installed(name):
        sys.argv = words[1:]
        code: int = importlib.import_module(TOOLS[name]).main(words[2:])
        return code
    if not _is_installed(name):
        install()
    if not _is_installed(name):
        known = "" if not name.startswith("msprobe.") else f"; of msprobe's there are here {', '.join(TOOLS)}"
        print(f"telltale.compat.msprobe: there is no module {name}{known}", file=sys.stderr)
        return 2
    sys.argv = words[1:]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
