# SPDX-License-Identifier: GPL-3.0-or-later
"""`from msprobe.pytorch import TrainerMon` for scripts that were written for msprobe, where msprobe is not installed.

import telltale.msprobe                       # once, before the script's own imports

or, with the script as it is: `python -m telltale.msprobe train.py ...`, `torchrun -m telltale.msprobe train.py ...`.
Command line tools of the documents are run by their names there, without torch: `python -m telltale.compat.msprobe -m
msprobe.core.monitor.anomaly_processor ...`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .compat.msprobe import PARTS, TOOLS
from .console import log

# What msprobe's versions and documents import from where, and the module of ours that has it.
_MON = {"TrainerMon": "telltale.pytorch"}
_MINDSPORE = {"TrainerMon": "telltale.mindspore"}
_COMPARATOR = {"GradComparator": "telltale.gradprobe.comparator"}
_NAMES = {
    "msprobe": _COMPARATOR,
    "msprobe.pytorch": {**_MON, "PrecisionDebugger": "telltale.pytorch", **_COMPARATOR},
    "msprobe.pytorch.monitor": _MON,
    "msprobe.pytorch.monitor.module_hook": _MON,
    "msprobe.mindspore": {**_MINDSPORE, "PrecisionDebugger": "telltale.mindspore"},
    "msprobe.mindspore.monitor": _MINDSPORE,
    "msprobe.mindspore.monitor.module_hook": _MINDSPORE,
}
_ABOVE = ("msprobe.core", "msprobe.core.monitor", "msprobe.core.grad_probe")  # what else is above TOOLS and PARTS
_said: set[str] = set()


def install(replace: bool = False) -> bool:
    """Makes `msprobe.pytorch` Telltale's, and says so. Where msprobe is installed it stays as it is, unless `replace`
    puts our TrainerMon into it; False then."""
    if _is_stand_in(sys.modules.get("msprobe")):
        return True
    has_original = importlib.util.find_spec("msprobe") is not None
    if has_original and not replace:
        _say(
            "msprobe is installed, so `from msprobe.pytorch import TrainerMon` is its own; "
            "telltale.msprobe.install(replace=True) makes it Telltale's"
        )
        return False
    if not has_original:
        _add_stand_ins()
    else:
        ours = importlib.import_module("telltale.pytorch").TrainerMon
        importlib.import_module("msprobe.pytorch").TrainerMon = ours  # type: ignore[attr-defined]
    _say("`from msprobe.pytorch import TrainerMon` gives Telltale's TrainerMon in this process")
    return True


def uninstall() -> None:
    """Takes the stand-ins away again."""
    if _is_stand_in(sys.modules.get("msprobe")):
        for name in (*_NAMES, *_ABOVE, *TOOLS, *PARTS):
            sys.modules.pop(name, None)
    _said.clear()


def _is_stand_in(module: ModuleType | None) -> bool:
    return getattr(module, "__telltale__", False)


class _StandIn(ModuleType):
    """A module of msprobe's. What it has is imported when it is asked for: each framework needs itself."""

    def __getattr__(self, name: str) -> Any:
        ours = _NAMES.get(self.__name__, {}).get(name)
        if ours is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(ours), name)


def _add_stand_ins() -> None:
    for name in (*_NAMES, *_ABOVE):
        names = list(_NAMES.get(name, ()))
        module = _StandIn(name, f"{name} as far as Telltale stands in for it: {', '.join(names)}.")
        module.__file__ = __file__  # what a failing import names
        module.__path__ = []
        module.__spec__ = ModuleSpec(name, None, origin=__file__, is_package=True)
        module.__dict__.update(__telltale__=True, __all__=names)
        sys.modules[name] = module
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, module)
    for name, ours in {**TOOLS, **PARTS}.items():
        above, _, last = name.rpartition(".")
        sys.modules[name] = importlib.import_module(ours)
        setattr(sys.modules[above], last, sys.modules[name])


def _say(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        log.warning("%s", sentence)


def _main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m telltale.msprobe SCRIPT [ARGUMENTS ...]", file=sys.stderr)
        return 0 if len(sys.argv) > 1 else 2
    # The copy of this module that is imported, not this one, keeps what was said.
    code: int = importlib.import_module("telltale.msprobe").run_script()
    return code


def run_script() -> int:
    """Runs the script that sys.argv[1] names, as `python SCRIPT` would have it."""
    install()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
else:
    install()
