# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and loads the package's native libraries."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def candidates(file: str, variable: str) -> list[Path]:
    """Where a library is looked for, in order: the environment variable, the package, a source tree's build."""
    named = os.environ.get(variable)
    if named:
        return [Path(named)]
    here = Path(__file__).resolve().parent
    found = [here / file]
    if len(here.parents) > 3:
        found.append(here.parents[3] / "build" / "release" / "lib" / file)
    return found


def load(
    file: str, variable: str, declare: Callable[[Any], None], version: str, abi: int, missing: type[Exception]
) -> Any:
    """The library, its functions declared, of the ABI that this package needs; `version` is the function that says
    which one it has. Raises `missing` with a sentence that says what to do."""
    paths = candidates(file, variable)
    for path in paths:
        if path.is_file():
            try:
                lib = c.CDLL(str(path))
            except OSError as error:
                raise missing(f"cannot load {path}: {error}") from None
            declare(lib)
            found = getattr(lib, version)()
            if found != abi:
                raise missing(f"{path} speaks ABI {found}, this package needs {abi}: install both from one version")
            return lib
    raise missing(
        f"the native library {file} is missing (looked for {', '.join(str(path) for path in paths)});"
        " install the package with `pip install ./capture/agent/python`, which builds it"
    )
