# SPDX-License-Identifier: GPL-3.0-or-later
"""fully_shard (FSDP2), and DTensor parameters in general (tensor parallelism). Only local tensors are touched: DTensor
arithmetic may communicate."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ...agent.clock import Clock
from ...agent.hooks import Hook
from ...kinds import Form, Kind
from ..compiled import is_compiled_in_place, is_recording
from ..sources import GradientHook, ParameterSource
from .base import Adapter, Context


class _LeafHook(Hook):
    """Forward pre-hook of a fully_shard module, after FSDP's own: its parameters are gathered now, as leaves that stay
    the same objects from step to step."""

    __slots__ = ("_engine", "_leaves", "_handles")

    def __init__(self, engine: weakref.ReferenceType[Clock]) -> None:
        self._engine = engine
        self._leaves: list[list[Any]] = []  # number, source, module, key, the leaf that has the hook
        self._handles: list[Any] = []

    def add(self, number: int, source: ParameterSource, module: torch.nn.Module, key: str) -> None:
        self._leaves.append([number, weakref.ref(source), weakref.ref(module), key, lambda: None])

    def remove(self) -> None:
        """As a handle: removes what the hook has installed."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def __call__(self, owner: Any, _args: Any) -> None:
        engine = self._engine()
        if engine is None or not engine.collecting or is_recording():
            return None
        try:
            self._watch(engine, owner)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.GRAD_UNREDUCED.word, error)
        return None

    def _watch(self, engine: Clock, owner: Any) -> None:
        fresh = []
        for entry in self._leaves:
            number, source, module, key, known = entry[0], entry[1](), entry[2](), entry[3], entry[4]
            leaf = module._parameters.get(key) if module is not None else None
            if leaf is None or leaf is known() or source is None or leaf is source.tensor:
                continue
            if leaf.requires_grad and leaf.is_leaf:
                if hasattr(leaf, "_local_tensor"):  # under tensor parallelism the gathered leaf is a piece itself
                    engine.unreduced.reshape(number, *shard_of(leaf))
                entry[4] = weakref.ref(leaf)
                self._handles.append(leaf.register_post_accumulate_grad_hook(GradientHook(self._engine, number, True)))
                fresh.append(number)
        if fresh and engine.grad_acc_steps > 1 and _accumulates_unreduced(owner):
            engine.unreduced.amend(fresh, Form.ACCUMULATED, remove=Form.MICRO)


def _accumulates_unreduced(module: Any) -> bool:
    """Whether gradients add up locally over micro steps (set_requires_gradient_sync(False)) in the leaf itself."""
    try:
        group = module._get_fsdp_state()._fsdp_param_group
        reduce_dtype, param_dtype = group.mp_policy.reduce_dtype, group.mp_policy.param_dtype
        return not group.reduce_grads and (reduce_dtype is None or reduce_dtype == param_dtype)
    except AttributeError:
        return False


class _Holder:
    """One fully_shard module."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.module = weakref.ref(module)
        self._engine: Any = None
        self._hook: _LeafHook | None = None

    def watch(self, engine: Clock, number: int, source: ParameterSource, place: Any) -> list[Any]:
        module, owner = self.module(), place[0]()
        if module is None or owner is None:
            return []
        handles: list[Any] = []
        if is_compiled_in_place(module):
            why = "its fully_shard module is compiled in place, where no hook may be"
            engine.not_observed(Kind.GRAD_UNREDUCED, source.name, why)
            return []
        if self._hook is None or self._engine is not engine.reference:
            self._engine = engine.reference
            self._hook = _LeafHook(engine.reference)
            handles = [module.register_forward_pre_hook(self._hook), self._hook]
        self._hook.add(number, source, owner, place[1])
        return handles


class DTensorSource(ParameterSource):
    """A parameter of which this rank has a piece, or all of it, as a DTensor."""

    is_replicated = False

    def __init__(self, name: str, parameter: Any, optimizer: Any, vpp: int, holder: _Holder | None, place: Any) -> None:
        super().__init__(name, parameter, optimizer, vpp)
        self._holder = holder
        self._at = place
        if holder is not None:
            self.form_unreduced = Form.MICRO  # until a forward shows that gradients add up before they are reduced
        else:
            self.unreduced_is_full = False

    @property
    def is_here(self) -> bool:
        return self.tensor._local_tensor.numel() > 0

    def shard(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        return shard_of(self.tensor)

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        if not self.tensor.requires_grad:
            return []
        if self._holder is None or self._at is None:
            return super().watch_unreduced(engine, number)
        return self._holder.watch(engine, number, self, self._at)


def shard_of(tensor: Any) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """(local shape, first local element in the full tensor or -1, full shape or ()) of a DTensor; arithmetic only."""
    whole, here = tuple(tensor.shape), tuple(tensor._local_tensor.shape)
    if here == whole:
        return here, -1, ()
    offset, stride = 0, 1
    for size, start in zip(reversed(whole), reversed(_starts(tensor))):
        offset += start * stride
        stride *= size
    return here, offset, whole


def _starts(tensor: Any) -> tuple[int, ...]:
    """Of the local piece's first element in the full tensor, by dimension; arithmetic only."""
    try:
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

        _, starts = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
        return tuple(int(start) for start in starts)
    except (ImportError, AttributeError, TypeError):
        starts_by_dim = [0] * len(tensor.shape)
        for i, placement in enumerate(tensor.placements):
            if placement.is_shard():
                parts = tensor.device_mesh.size(i)
                part = -(-tensor.shape[placement.dim] // parts)
                starts_by_dim[placement.dim] = part * tensor.device_mesh.get_local_rank(i)
        return tuple(starts_by_dim)


class DTensorAdapter(Adapter):
    """Knows parameters that are DTensors."""

    framework = "fsdp2"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._holders: dict[int, _Holder] = {}  # id of a module -> the fully_shard module around it
        self._is_in_use = any(hasattr(p, "_local_tensor") for chunk in context.chunks for p in chunk.parameters())
        if self._is_in_use:
            for chunk in context.chunks:
                self._walk(chunk, None)

    def _walk(self, module: torch.nn.Module, holder: _Holder | None) -> None:
        if hasattr(module, "_get_fsdp_state"):
            holder = _Holder(module)
        if holder is not None:
            self._holders.setdefault(id(module), holder)
        for child in module.children():
            self._walk(child, holder)

    @property
    def is_in_use(self) -> bool:
        return self._is_in_use

    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        if not hasattr(parameter, "_local_tensor"):
            return None
        place = self.context.place(parameter)
        owner = self.context.places.get(id(parameter))
        holder = self._holders.get(id(owner[0])) if owner is not None else None
        optimizer = self.context.owners.get(id(parameter))
        return [DTensorSource(name, parameter, optimizer, chunk, holder, place)]
