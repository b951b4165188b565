# SPDX-License-Identifier: GPL-3.0-or-later
"""FullyShardedDataParallel (FSDP1). Gradients before reduction are seen on the full-shape views that the wrapped module
gets at every forward; hooks on named_parameters() never fire there."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ...agent.clock import Clock
from ...agent.hooks import Hook
from ...kinds import Form, Kind
from ..compiled import is_compiled_in_place, is_recompute, is_recording
from ..sources import FlatSlice, GradientHook, ParameterSource
from .base import Adapter, Context

_NEEDED = ("_fqns", "_shapes", "_shard_param_infos", "_param_infos")


class _ViewHook(Hook):
    """Forward pre-hook of a wrapped module: its parameters are views of the gathered flat parameter, new each time."""

    __slots__ = ("_engine", "_views", "_mark", "_is_repeated")

    def __init__(self, engine: weakref.ReferenceType[Clock]) -> None:
        self._engine = engine
        self._views: list[tuple[int, str, weakref.ReferenceType[torch.nn.Module], str]] = []
        self._mark: Any = None
        self._is_repeated = False

    def add(self, number: int, name: str, module: torch.nn.Module, key: str) -> None:
        self._views.append((number, name, weakref.ref(module), key))

    def __call__(self, _module: Any, _args: Any) -> None:
        engine = self._engine()
        if engine is None or not engine.collecting or self._is_repeated or is_recording():
            return None
        if not torch.is_grad_enabled():
            return None  # evaluation, or reentrant checkpointing, whose recomputation has views with gradients
        try:
            self._watch(engine)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.GRAD_UNREDUCED.word, error)
        return None

    def _watch(self, engine: Clock) -> None:
        found = []
        for number, _, reference, key in self._views:
            module = reference()
            view = getattr(module, key, None) if module is not None else None
            if isinstance(view, torch.Tensor) and view.requires_grad and not view.is_leaf:
                found.append((number, view))
        if not found:
            return
        if self._mark == engine.micro_mark:
            if is_recompute():
                return  # non-reentrant checkpointing: the first forward's views carry the gradients
            self._is_repeated = True
            engine.unreduced.drop([number for number, _ in found])
            shown = ", ".join(name for _, name, _, _ in self._views[:3])
            engine.not_observed(
                Kind.GRAD_UNREDUCED,
                f"{shown}{' and its neighbors' if len(self._views) > 3 else ''}",
                "its FSDP unit runs more than once in a micro step, each time with views of its own",
            )
            return
        self._mark = engine.micro_mark
        for number, view in found:
            view.register_hook(GradientHook(self._engine, number, False))


class _Unit:
    """One FSDP module with its flat parameter."""

    def __init__(self, module: Any, flat: Any, originals: list[Any] | None) -> None:
        self.module = weakref.ref(module)
        self.flat = flat
        self.originals = originals
        self._hook: _ViewHook | None = None
        self._engine: Any = None

    def watch(self, engine: Clock, number: int, name: str, index: int) -> list[Any]:
        """Adds a parameter to the unit's hook; the first one installs it and has the handle."""
        handles = []
        module = self.module()
        if module is None:
            return []
        if is_compiled_in_place(module) or is_compiled_in_place(module._fsdp_wrapped_module):
            engine.not_observed(Kind.GRAD_UNREDUCED, name, "its FSDP unit is compiled in place, where no hook may be")
            return []
        if self._hook is None or self._engine is not engine.reference:
            self._engine = engine.reference
            self._hook = _ViewHook(engine.reference)
            handles = [module._fsdp_wrapped_module.register_forward_pre_hook(self._hook)]
        info = self.flat._param_infos[index]
        self._hook.add(number, name, info.module, info.param_name)
        return handles


class _Shard(ParameterSource):
    """use_orig_params=True: the optimizer has a one-dimensional local piece under the parameter's own name."""

    is_replicated = False

    def __init__(self, name: str, parameter: Any, optimizer: Any, vpp: int, unit: _Unit, index: int) -> None:
        super().__init__(name, parameter, optimizer, vpp)
        self._unit = unit
        self._index = index
        self.form_unreduced = Form.MICRO

    @property
    def is_here(self) -> bool:
        return self.tensor.numel() > 0

    def shard(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        shape, here = tuple(self._unit.flat._shapes[self._index]), tuple(self.tensor.shape)
        info = self._unit.flat._shard_param_infos[self._index]
        if here == shape:
            return here, -1, ()
        return here, info.intra_param_start_idx or 0, shape

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        return self._unit.watch(engine, number, self.name, self._index)


class _Slice(FlatSlice):
    """use_orig_params=False: the optimizer has the unit's flat parameter."""

    unit: _Unit
    index: int

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        return self.unit.watch(engine, number, self.name, self.index)


class Fsdp1Adapter(Adapter):
    """Knows the parameters of FSDP units by their flat parameters' tables."""

    framework = "fsdp1"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._originals: dict[int, tuple[_Unit, int]] = {}
        self._flats: dict[int, _Unit] = {}
        self._names: dict[int, str] = {}
        for chunk in context.chunks:
            for name, module in chunk.named_modules():
                self._names[id(module)] = name
                flat = getattr(getattr(module, "_handle", None), "flat_param", None)
                if flat is not None and hasattr(module, "_fsdp_wrapped_module"):
                    self._add(module, flat)

    def _add(self, module: Any, flat: Any) -> None:
        missing = [name for name in _NEEDED if not hasattr(flat, name)]
        if missing:
            self.context.note(
                f"this PyTorch's FSDP has no {', '.join(missing)}: its flat parameters are shown whole, without the "
                "names inside, and their unreduced gradients are not observed"
            )
            return
        originals = getattr(flat, "_params", None)
        unit = _Unit(module, flat, originals)
        self._flats[id(flat)] = unit
        for index, parameter in enumerate(originals or ()):
            self._originals[id(parameter)] = (unit, index)

    @property
    def is_in_use(self) -> bool:
        return bool(self._flats)

    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        owner = self.context.owners.get(id(parameter))
        if id(parameter) in self._originals:
            unit, index = self._originals[id(parameter)]
            return [_Shard(name, parameter, owner, chunk, unit, index)]
        unit_of_flat = self._flats.get(id(parameter))
        if unit_of_flat is None:
            return None
        return [self._slice(unit_of_flat, index, parameter, owner, chunk) for index in range(len(parameter._fqns))]

    def _slice(self, unit: _Unit, index: int, flat: Any, owner: Any, chunk: int) -> ParameterSource:
        info, shard = flat._param_infos[index], flat._shard_param_infos[index]
        prefix = self._names.get(id(info.module), "")
        name = f"{prefix}.{info.param_name}" if prefix else info.param_name
        start = shard.offset_in_shard or 0 if shard.in_shard else 0
        count = shard.numel_in_shard or 0 if shard.in_shard else 0
        offset = shard.intra_param_start_idx or 0
        source = _Slice(name, flat, owner, chunk, flat, start, count, offset, tuple(flat._shapes[index]))
        source.unit, source.index = unit, index
        source.form_unreduced = Form.MICRO
        return source
