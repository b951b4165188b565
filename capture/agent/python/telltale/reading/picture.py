# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a run: drawn by the desktop's own program, so that they are what its window shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .binding import ReadError

_FORMATS = ("png", "svg")


class Picture:
    """A picture that a notebook shows."""

    def __init__(self, data: bytes, form: str) -> None:
        self.data = data
        self.format = form

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_bytes(self.data)

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None

    def _repr_svg_(self) -> str | None:
        return self.data.decode() if self.format == "svg" else None

    def __repr__(self) -> str:
        return f"<telltale.Picture: {len(self.data)} bytes of {self.format}>"


def program() -> str:
    """The desktop's program: TELLTALE_PROGRAM, `telltale` on the path, or a source tree's build."""
    named = os.environ.get("TELLTALE_PROGRAM")
    found = named or shutil.which("telltale")
    parents = Path(__file__).resolve().parents
    built = parents[5] / "build" / "release" / "bin" / "telltale" if len(parents) > 5 else None
    if not found and built and built.is_file():
        found = str(built)
    if not found:
        raise ReadError(
            "pictures are drawn by the desktop's program `telltale`, which is not on the path: install it, or name it"
            " in TELLTALE_PROGRAM"
        )
    return found


def draw(path: str, view: str, form: str, size: tuple[int, int] | None, options: dict[str, Any]) -> Picture:
    """The view as `telltale render` draws it; options are those of that verb, without their dashes."""
    if form not in _FORMATS:
        raise ValueError(f"format {form!r} is none of {', '.join(_FORMATS)}")
    words = [program(), "render", path, "--view", view]
    if size:
        words += ["--size", f"{size[0]}x{size[1]}"]
    for name, value in options.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            words += ["--" + name.replace("_", "-"), str(value)]
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"picture.{form}"
        done = subprocess.run([*words, "-o", str(out)], capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0 or not out.is_file():
            raise ReadError(done.stderr.strip() or f"telltale render gave no picture (exit {done.returncode})")
        return Picture(out.read_bytes(), form)
