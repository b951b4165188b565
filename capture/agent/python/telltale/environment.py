# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a training runs: versions, devices, host, code. Never the environment's variables, and no secrets."""

from __future__ import annotations

import os
import platform
import shlex
import socket
import subprocess
import sys
from typing import Any

from .plainvalue import is_secret, without_secrets

_LIBRARIES = (
    "numpy",
    "transformers",
    "accelerate",
    "lightning",
    "pytorch_lightning",
    "deepspeed",
    "triton",
    "datasets",
    "mindspore",
    "mindformers",
)
_GIT_SECONDS = 5.0
_LONGEST_COMMAND = 4000


def is_wanted(name: str, in_config: bool) -> bool:
    """Whether the config and the environment's variable let something be collected by itself."""
    return in_config and os.environ.get(name, "").lower() not in ("off", "0", "false", "no")


def read_environment(version: str) -> dict[str, Any]:
    """Everything but what only a device that is in use says. Takes up to some seconds where git is slow: not for the
    training's thread."""
    found: dict[str, Any] = {
        "telltale": version,
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "os": platform.platform(),
        "cpu": _cpu(),
        "cpu_count": os.cpu_count(),
        "memory_bytes": _memory(),
        "command": command_line(_arguments()),
        "folder": os.getcwd(),
    }
    found |= _libraries()
    found |= git_state(_code_folder())
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def read_devices() -> dict[str, Any]:
    """The GPUs of this process; {} before it has begun to use one, since asking would begin it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return {}
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"gpu": names[0] if len(set(names)) == 1 else names, "gpu_count": len(names)}


def command_line(arguments: list[str]) -> str:
    """As somebody would type it, without what is secret: `--api-key x`, `token=x`, `https://user:x@host`."""
    shown = []
    hides_next = False
    for argument in arguments:
        name, given, _ = argument.partition("=")
        if hides_next and not argument.startswith("-"):
            shown.append("***")
        elif given and argument.startswith("-") and is_secret(name.lstrip("-")):
            shown.append(f"{name}=***")
        else:
            shown.append(without_secrets(argument))
        hides_next = argument.startswith("-") and not given and is_secret(argument.lstrip("-"))
    return " ".join(one if one == "***" or one.endswith("=***") else shlex.quote(one) for one in shown)[
        :_LONGEST_COMMAND
    ]


def git_state(folder: str) -> dict[str, Any]:
    """Commit, branch and whether tracked files differ from it; {} outside of a repository or without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return {}
    found: dict[str, Any] = {"git_commit": commit, "git_branch": _git(folder, "rev-parse", "--abbrev-ref", "HEAD")}
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if changed is not None:
        found["git_dirty"] = bool(changed)
    return found


def _git(folder: str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", folder, *arguments],
            capture_output=True,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # the repository stays as it is
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def _arguments() -> list[str]:
    return list(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv])


def _code_folder() -> str:
    script = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    folder = os.path.dirname(os.path.abspath(script)) if script else os.getcwd()
    return folder if os.path.isdir(folder) else os.getcwd()


def _libraries() -> dict[str, Any]:
    versions: dict[str, Any] = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    torch = sys.modules.get("torch")
    if torch is not None:
        versions |= {"torch": str(torch.__version__), "cuda": getattr(torch.version, "cuda", None)}
        versions["hip"] = getattr(torch.version, "hip", None)
    return versions


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
            return next(named, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        return None
