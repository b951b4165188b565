# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that is whole at any moment, whoever dies."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
from pathlib import Path

_LONGEST_WRITE = 3600.0  # seconds
_NOWHERE = "00000000-0"  # where numbers of processes say nothing


def _place() -> str:
    """Where a process's number says which one it is: this boot of this machine, and the namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]
        return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino}"
    except (OSError, ValueError):
        return _NOWHERE


def _prefix(path: Path) -> str:
    """How the name of every temporary file begins. The C++ agent gives them the same names."""
    return f".{path.name}.telltale-"


def replace_text(path: Path, before: str, text: str) -> bool:
    """Puts `text` in the place of `before`; sync_folder() then has that on the disk. False: by now the file says
    something else, which stays."""
    mode = os.stat(path).st_mode & 0o777
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{_prefix(path)}{_place()}-{os.getpid()}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        # Once more: the sync takes its time on a busy disk.
        if path.read_text("utf-8") != before:
            os.unlink(name)
            return False
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return True


def sync_folder(path: Path) -> None:
    """Has the names beside the file on the disk."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove_leftovers(path: Path) -> None:
    """Takes away what writers of this file left beside it that were killed: those of this machine that are gone, and
    any that is older than a writer can be."""
    ours = re.compile(re.escape(_prefix(path)) + r"([0-9a-f]{8}-[0-9]+)-([1-9][0-9]{0,9})-[A-Za-z0-9_]{6,8}")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            name = ours.fullmatch(entry.name)
            if name is None or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > _LONGEST_WRITE or (name[1] == _place() != _NOWHERE and _is_gone(int(name[2]))):
                    os.unlink(entry.path)


def _is_gone(writer: int) -> bool:
    try:
        os.kill(writer, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False
