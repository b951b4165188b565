# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modules run inside torch.compile. A hook there, even one that does nothing, can change what gets compiled (a
built-in container that is compiled in place is not compiled at all without hooks), and with it the last bits."""

from __future__ import annotations

from typing import Any

import torch

from ..agent import cost
from ..names import listed

cost.is_compiling = getattr(torch.compiler, "is_dynamo_compiling", torch.compiler.is_compiling)  # the quicker one


def _nothing() -> Any:
    return None


_is_compiling, _is_tracing = torch.compiler.is_compiling, torch.jit.is_tracing  # every hook asks
_mode_count = getattr(torch._C, "_len_torch_dispatch_stack", _nothing)
_mode_stack = getattr(torch.utils._python_dispatch, "_get_current_dispatch_mode_stack", _nothing)
_transform = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", _nothing)
# The number of the backward pass that this thread is in, -1 outside of one.
backward_pass = getattr(torch._C, "_current_graph_task_id", lambda: -1)
_RECORDING = {"FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode"}


def is_recording() -> bool:
    """Whether the code runs to be recorded or transformed (torch.compile, jit.trace, export, fake tensors, torch.func):
    what passes then is no step of the training, and a trace must come out as it would without a hook."""
    if _is_compiling() or _is_tracing() or _transform() is not None:
        return True
    return bool(_mode_count()) and any(type(mode).__name__ in _RECORDING for mode in _mode_stack() or [])


def is_recompute() -> bool:
    """Whether this forward runs inside a backward pass: activation checkpointing computes again what was seen."""
    return bool(backward_pass() != -1)


def is_compiled_in_place(module: torch.nn.Module) -> bool:
    """After module.compile(): its hooks are part of the compiled code."""
    return getattr(module, "_compiled_call_impl", None) is not None


def compiled_inside(roots: list[torch.nn.Module]) -> set[int]:
    """ids of the modules whose forward hooks would run inside compiled code. An OptimizedModule itself is outside."""
    found: set[int] = set()
    for root in roots:
        _walk(root, False, found, set())
    return found


def unreachable(engine: Any, parts: list[Any]) -> str:
    """Why parts of a changed config would have no effect, "" when each has some or had none before."""
    inside = compiled_inside(engine.roots)
    before = {type(part) for part in engine.parts if part.hooked_modules()}
    for part in parts:
        modules = part.hooked_modules()
        if modules and type(part) not in before and all(id(module) in inside for _, module in modules):
            what = type(part).__name__.removesuffix("Part").lower()
            return (
                f"{what} of {listed([name for name, _ in modules])} would need hooks inside compiled code, where they "
                "take no effect; select modules around it"
            )
    return ""


def _walk(module: torch.nn.Module, is_inside: bool, found: set[int], seen: set[tuple[int, bool]]) -> None:
    is_inside = is_inside or is_compiled_in_place(module)
    if (id(module), is_inside) in seen:
        return
    seen.add((id(module), is_inside))
    if is_inside:
        found.add(id(module))
    is_wrapper = type(module).__name__ == "OptimizedModule"
    for child in module.children():
        _walk(child, is_inside or is_wrapper, found, seen)
