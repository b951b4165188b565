# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale doctor`: is this machine ready to be watched?"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import socket
import sys
from dataclasses import asdict, dataclass
from typing import Any, Callable
from urllib.parse import urlsplit

from . import __version__, configfile, identity, native
from .config import Problem
from .gradprobe.probeconfig import is_of_grad_probe, read_config

_TIMEOUT = 3.0
_GREETING = b"GET / HTTP/1.1\r\nHost: telltale\r\nConnection: close\r\n\r\n"
_PACKAGES = (
    "torch", "mindspore", "numpy", "transformers", "accelerate", "lightning", "deepspeed", "megatron-core",
    "mindformers",
)  # fmt: skip
_FRAMEWORKS = "torch", "mindspore"

# What is used of PyTorch without being promised by it, and what is lost where it is missing.
PRIVATE_NAMES: tuple[tuple[str, str], ...] = (
    ("torch._C._current_graph_task_id", "activations under checkpointing are counted twice"),
    ("torch._C._functorch.is_functorch_wrapped_tensor", "tensors inside vmap and grad cannot be told apart"),
    ("torch.optim.Optimizer.register_step_pre_hook", "no step is seen"),
    ("torch.Tensor.register_post_accumulate_grad_hook", "no unreduced gradient is seen"),
    ("torch.compiler.is_compiling", "hooks would run inside compiled code"),
    ("torch._C._functorch.peek_interpreter_stack", "passes of torch.func count as steps"),
    ("torch._C._len_torch_dispatch_stack", "passes of fake tensors count as steps"),
    ("torch.utils._python_dispatch._get_current_dispatch_mode_stack", "passes of fake tensors count as steps"),
    ("torch.distributed.fsdp._flat_param.FlatParameter", "FSDP1's flat parameters are shown without the names inside"),
    ("torch.distributed.tensor._utils.compute_local_shape_and_global_offset", "uneven DTensor offsets are estimated"),
    ("torch.distributed.ProcessGroup", "collectives are not seen"),
    ("torch.jit._builtins._register_builtin", "torch.jit.script does not know the attention look-alike"),
)
# The same of MindSpore.
MINDSPORE_NAMES: tuple[tuple[str, str], ...] = (
    ("mindspore.graph.api._pynative_executor", "a recomputation counts as another call"),
    ("mindspore.common.api._no_grad", "what is added up for gradients of several micro steps is recorded for backward"),
    ("mindspore._c_expression.RuntimeConf", "whether tensors are there at once is asked of the context"),
    ("mindspore.Parameter.register_hook", "no unreduced gradient is seen"),
    ("mindspore.nn.Cell.register_forward_pre_hook", "no step is seen"),
    ("mindspore.Tensor._grad_node", "the gradient of an input is the total over all consumers"),
)
_ESSENTIAL = (
    "register_step_pre_hook", "register_post_accumulate_grad_hook", "Parameter.register_hook",
    "register_forward_pre_hook",
)  # fmt: skip


@dataclass
class Finding:
    """One line of the report. state: "ok", "note" (works with less) or "bad" (something needed is missing)."""

    name: str
    state: str
    text: str


def main(arguments: list[str]) -> int:
    """0, 1 when something that is needed is missing, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m telltale doctor", description="Says whether this machine is ready to be watched."
    )
    parser.add_argument("--join", help="join string to try (default: TELLTALE_JOIN)")
    parser.add_argument("--config", metavar="FILE", help="a monitor config to check")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args(arguments)
    findings = examine(options.join or os.environ.get("TELLTALE_JOIN", ""), options.config)
    is_well = all(finding.state != "bad" for finding in findings)
    if options.json:
        print(json.dumps({"ok": is_well, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            print(f"{finding.state:<4}  {finding.name:<{width}}  {finding.text}")
    return 0 if is_well else 1


def examine(join: str, config: str | None = None) -> list[Finding]:
    """Everything that can be said; never raises."""
    findings = []
    checks: list[tuple[str, Callable[[], list[Finding]]]] = [
        ("versions", _versions),
        ("library", _library),
        ("devices", _devices),
        ("rank", _rank),
        ("mode", lambda: _mode(join)),
        ("private names", _private_names),
        ("mindspore", _mindspore),
        ("config", lambda: _config(config) if config is not None else []),
    ]
    for name, check in checks:
        try:
            findings += check()
        except Exception as error:  # noqa: BLE001 - a doctor does not fall ill
            findings.append(Finding(name, "bad", f"could not be examined: {type(error).__name__}: {error}"))
    return findings


def _versions() -> list[Finding]:
    found = [Finding("telltale", "ok", f"{__version__}, Python {platform.python_version()}, {platform.platform()}")]
    for package in _PACKAGES:
        try:
            found.append(Finding(package, "ok", importlib.metadata.version(package)))
        except importlib.metadata.PackageNotFoundError:
            if package == "numpy":
                found.append(Finding(package, "bad", "missing; pip install " + package))
    if not any(_is_installed(name) for name in _FRAMEWORKS):
        found.append(Finding("framework", "bad", "neither PyTorch nor MindSpore is installed; pip install torch"))
    return found


def _is_installed(package: str) -> bool:
    spec = importlib.util.find_spec(package)
    return spec is not None and spec.origin is not None


def _library() -> list[Finding]:
    try:
        lib = native.library()
    except native.LibraryMissing as error:
        return [Finding("native library", "bad", f"{error}; csv and tensorboard work without it, streaming does not")]
    path = next((str(path) for path in native.candidates() if path.is_file()), "")
    version = lib.tt_version().decode()
    state = "ok" if version == __version__ else "note"
    return [
        Finding("native library", state, f"{path}, version {version}"),
        Finding("kernel", "ok", native.kernel_name()),
    ]


def _devices() -> list[Finding]:
    if not _is_installed("torch"):
        return []
    import torch

    if not torch.cuda.is_available() or torch.version.hip is not None:
        return []
    why = native.library().tt_device_open(torch.cuda.current_device())
    if why is None:
        return [Finding("device kernel", "ok", f"for {torch.cuda.get_device_name()}")]
    return [Finding("device kernel", "note", f"torch's own operations stand in, at 40 times the cost: {why.decode()}")]


def _mindspore() -> list[Finding]:
    if not _is_installed("mindspore"):
        return []
    import mindspore

    mode = "PyNative" if mindspore.get_context("mode") == mindspore.PYNATIVE_MODE else "GRAPH"
    text = f"a net is looked into in PyNative mode alone; here the context begins in {mode} mode"
    return [Finding("MindSpore's graphs", "ok" if mode == "PyNative" else "note", text)]


def _rank() -> list[Finding]:
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID")
    given = ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)
    text = f"{identity.rank()} of {identity.world_size()} ({given or 'no launcher has set one'})"
    return [Finding("rank", "ok", text)]


def _mode(join: str) -> list[Finding]:
    mode = os.environ.get("TELLTALE_MODE", "online")
    spool = os.environ.get("TELLTALE_DIR")
    found = [Finding("mode", "ok" if mode in ("online", "offline", "disabled") else "bad", mode)]
    if spool:
        parent = spool if os.path.isdir(spool) else os.path.dirname(os.path.abspath(spool))
        writable = os.access(parent, os.W_OK)
        found.append(Finding("spool", "ok" if writable else "bad", spool if writable else f"{spool} cannot be written"))
    if mode == "disabled" or mode == "offline":
        return found
    if not join:
        found.append(Finding("dashboard", "note", "no join string in TELLTALE_JOIN or --join: csv files are written"))
        return found
    return found + [_reach(join)]


def _reach(join: str) -> Finding:
    """A TCP connection to where the join string points, what answers there, and whether it knows the token."""
    address = urlsplit(join if "://" in join else f"//{join}")
    try:
        host, port = address.hostname, address.port
    except ValueError as error:
        return Finding("dashboard", "bad", f"the join string cannot be read: {error}")
    if not host or not port:
        return Finding("dashboard", "bad", "the join string names no host and port; copy it from the dashboard")
    where = f"{host}:{port}"
    try:
        with socket.create_connection((host, port), _TIMEOUT) as connection:
            connection.settimeout(_TIMEOUT)
            said = b""
            try:
                connection.sendall(_GREETING)
                said = connection.recv(256)
            except OSError:
                pass
    except OSError as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else error.strerror or str(error)
        return Finding("dashboard", "bad", f"{where} cannot be reached: {reason}")
    first = said.split(b"\r\n", 1)[0].decode("latin-1", "replace")[:80]
    answer = f'it says "{first}"' if first.isprintable() and first else "it waits for the agent's own protocol"
    try:
        why = native.try_join(join, _TIMEOUT)
    except native.LibraryMissing:
        return Finding("dashboard", "note", f"{where} accepts connections; {answer}; the token was not tried")
    if why:
        return Finding("dashboard", "bad", f"{where} accepts connections, but {why}")
    return Finding("dashboard", "ok", f"{where} knows the token: an agent can stream to it")


def _problems(problems: list[Problem]) -> list[Finding]:
    return [Finding("config", "bad" if problem.is_error else "note", str(problem)) for problem in problems]


def _config(path: str) -> list[Finding]:
    """What a training would say of the config at its start, as far as that needs no model."""
    try:
        if is_of_grad_probe(path):
            return _problems(read_config(path).problems) or [Finding("config", "ok", f"{path} (grad_probe)")]
        loaded = configfile.load(path)
    except configfile.ConfigError as error:
        return [Finding("config", "bad", str(error))]
    found = _problems(loaded.problems)
    if not loaded.config.selects_anything():
        found.append(
            Finding("config", "bad", "it selects nothing to measure: set wg_distribution or xy_distribution to true")
        )
    return found or [Finding("config", "ok", path)]


def _private_names() -> list[Finding]:
    names = PRIVATE_NAMES if _is_installed("torch") else ()
    names += MINDSPORE_NAMES if _is_installed("mindspore") else ()
    missing = [(name, loss) for name, loss in names if not _exists(name)]
    if not missing:
        return [Finding("private names", "ok", f"all {len(names)} present")]
    return [
        Finding("private names", "bad" if name.endswith(_ESSENTIAL) else "note", f"{name} is missing: {loss}")
        for name, loss in missing
    ]


def _exists(dotted: str) -> bool:
    parts = dotted.split(".")
    thing: Any = None
    for i, part in enumerate(parts):
        if thing is not None and hasattr(thing, part):
            thing = getattr(thing, part)
            continue
        try:
            thing = importlib.import_module(".".join(parts[: i + 1]))
        except ImportError:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
