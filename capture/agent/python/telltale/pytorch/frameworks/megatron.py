# SPDX-License-Identifier: GPL-3.0-or-later
"""Megatron-core: main_grad in one buffer, gradients summed there over micro steps and reduced by bucket groups; the
optimizer steps float32 copies or shards of the parameters."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from ...agent.clock import Clock
from ...kinds import Form, Kind
from ..sources import FlatSlice, GradientHook, ParameterSource
from .base import Adapter, Context


class _BucketGroup:
    """Looks at main_grad right before a bucket group's reduction: sums over micro steps are complete then, and later
    they are gone. An instance attribute in front of start_grad_sync, taken away again by remove()."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self._numbers: list[tuple[int, Any]] = []
        self._engine: Any = None

    def watch(self, engine: Clock, number: int, parameter: Any) -> list[Any]:
        handles: list[Any] = []
        if self._engine is not engine.reference:
            self._engine, self._numbers = engine.reference, []
            self._install()
            handles = [self]
        self._numbers.append((number, parameter))
        return handles

    def _install(self) -> None:
        self.group.__dict__.pop("start_grad_sync", None)
        original = self.group.start_grad_sync
        this = weakref.ref(self)

        def start_grad_sync(*args: Any, **kwargs: Any) -> Any:
            watch = this()
            if watch is not None:
                watch.look()
            return original(*args, **kwargs)

        self.group.start_grad_sync = start_grad_sync
        self.group._telltale = self

    def look(self) -> None:
        """Hands over every main_grad of the group; not once their reduction is under way."""
        engine = self._engine()
        if engine is None or not engine.collecting or getattr(self.group, "grad_reduce_handle", None) is not None:
            return
        try:
            for number, parameter in self._numbers:
                engine.gradient_arrived(number, getattr(parameter, "main_grad", None))
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.GRAD_UNREDUCED.word, error)

    def remove(self) -> None:
        """Puts the original back."""
        self.group.__dict__.pop("start_grad_sync", None)
        self.group.__dict__.pop("_telltale", None)
        self._numbers = []


def _watch(source: Any, engine: Clock, number: int, otherwise: Callable[[], list[Any]]) -> list[Any]:
    """Each micro step alone by a tensor hook when that is asked for, else the sum before its reduction."""
    if not source.tensor.requires_grad:
        return []
    if not source.arrives_once:
        return [source.tensor.register_hook(GradientHook(engine.reference, number, False))]
    if source.group is None:
        return otherwise()
    return source.group.watch(engine, number, source.tensor)


class _Whole(ParameterSource):
    """The optimizer steps the parameter itself, or a whole float32 copy of it."""

    arrives_once = True
    group: _BucketGroup | None = None
    main: Any = None

    def stepped(self) -> Any:
        return self.tensor if self.main is None else self.main

    def parameter(self) -> Any:
        return self.stepped()

    def gradient(self) -> Any:
        grad = self.stepped().grad
        return grad if grad is not None else getattr(self.tensor, "main_grad", None)

    def moment(self, which: str) -> Any:
        return self._state(self.stepped(), which)

    def dtype(self) -> Any:
        return self.stepped().dtype

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        return _watch(self, engine, number, lambda: super(_Whole, self).watch_unreduced(engine, number))


class _Piece(FlatSlice):
    """The distributed optimizer steps this rank's range of the parameter."""

    arrives_once = True
    group: _BucketGroup | None = None

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        return _watch(self, engine, number, lambda: [])


class MegatronAdapter(Adapter):
    """Knows Megatron's DDP by its bucket groups and its optimizers by their groups of parameters."""

    framework = "megatron"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._groups: dict[int, _BucketGroup] = {}
        for chunk in context.chunks:
            self._add_bucket_groups(chunk)
        self._mains: dict[int, tuple[Any, Any]] = {}  # id(model parameter) -> (optimizer wrapper, what is stepped)
        for wrapper in context.chain if self._groups else ():
            self._add_optimizer(wrapper)

    def _add_bucket_groups(self, chunk: Any) -> None:
        for module in chunk.modules():
            found = [*_list(module, "bucket_groups"), *_list(module, "expert_parallel_bucket_groups")]
            for group in found:
                if not hasattr(group, "start_grad_sync"):
                    continue
                # A group that is watched already has its watch with it.
                watch = group.__dict__.get("_telltale") or _BucketGroup(group)
                for bucket in _list(group, "buckets"):
                    for parameter in _list(bucket, "params_list") or list(getattr(bucket, "params", ())):
                        self._groups[id(parameter)] = watch

    def _add_optimizer(self, wrapper: Any) -> None:
        for models, mains in (
            ("model_float16_groups", "shard_fp32_from_float16_groups"),
            ("model_fp32_groups", "shard_fp32_groups"),
            ("float16_groups", "fp32_from_float16_groups"),
        ):
            for group, shards in zip(_list(wrapper, models), _list(wrapper, mains)):
                for parameter, shard in zip(group, shards):
                    self._mains[id(parameter)] = (wrapper, shard)

    @property
    def is_in_use(self) -> bool:
        return bool(self._groups)

    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        group = self._groups.get(id(parameter))
        if group is None:
            return None
        owners = self.context.owners
        wrapper, main = self._mains.get(id(parameter), (None, None))
        source: _Whole | _Piece
        is_sharded = any(hasattr(entry, "_get_model_param_range_map") for entry in self.context.chain)
        if is_sharded:
            start, end = _range_of(wrapper, parameter) if main is not None else (0, 0)
            optimizer = owners.get(id(main)) or getattr(wrapper, "optimizer", None)
            shape = tuple(parameter.shape)
            source = _Piece(name, parameter, optimizer, chunk, main, 0, end - start, start, shape)
        else:
            source = _Whole(name, parameter, owners.get(id(parameter if main is None else main)), chunk)
            source.main = main
        source.group = group
        if any(_clips(entry) for entry in self.context.chain):
            source.form_reduced |= Form.CLIPPED
        if any(_scales(entry) for entry in self.context.chain):
            source.form_unreduced |= Form.SCALED
        return [source]

    def use_micro_steps(self, found: Any) -> None:
        """Each micro step's gradient alone instead of their sum."""
        for source in found.sources:
            if isinstance(source, (_Whole, _Piece)):
                source.arrives_once = False
                source.form_unreduced |= Form.MICRO


def _list(thing: Any, name: str) -> list[Any]:
    value = getattr(thing, name, None)
    return list(value) if isinstance(value, (list, tuple)) else []


def _range_of(wrapper: Any, parameter: Any) -> tuple[int, int]:
    span = wrapper._get_model_param_range_map(parameter)["param"]
    return int(span.start), int(span.end)


def _clips(wrapper: Any) -> bool:
    return float(getattr(getattr(wrapper, "config", None), "clip_grad", 0.0) or 0.0) > 0


def _scales(wrapper: Any) -> bool:
    return getattr(wrapper, "grad_scaler", None) is not None
