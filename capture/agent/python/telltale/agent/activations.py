# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations and their gradients: forward hooks on selected modules, tensor hooks on what passes through them."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import Any

from ..config import MonitorConfig
from ..kinds import Form, Kind
from ..names import listed, wrapper_of
from ..series import SeriesDesc
from ..slots import Position, Role, Slot
from .clock import Clock
from .features import Asked
from .framework import Framework
from .hooks import Hook
from .part import Part
from .share import SEVERAL_BACKWARDS, Inputs, tell_totals
from .targets import Place, TargetSet

MAX_TENSORS = 32  # of one side of one call
MAX_DEPTH = 4
MAX_CALLS = 16  # of one module in one micro step
MAX_OPEN = 64  # calls of one module that have begun; those that an exception ended stay until then
# In place of the inputs' versions when a call began: they are not known, or the values have been measured.
_UNKNOWN, _IS_READ = -1, -2
# In place of a gradient's row: nobody wants it, or it gets one when first its tensor needs a gradient. Data never does.
_UNWANTED, _AWAITED = -1, -2


def entries_of(value: Any) -> Iterable[Any]:
    """What stands side by side in a container, as the training code wrote it; nothing in what is no container."""
    if isinstance(value, (tuple, list)):
        return value
    if isinstance(value, dict):
        return value.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, entry.name, None) for entry in dataclasses.fields(value)]
    return ()


def tensors_in(kind: type, value: Any, depth: int = 0) -> Iterator[Any]:
    """Tensors (of a framework's type) of nested tuples, lists, dicts and dataclasses, in order."""
    if isinstance(value, kind):
        yield value
    elif depth < MAX_DEPTH:
        for entry in entries_of(value):
            yield from tensors_in(kind, entry, depth + 1)


def _keys_of(value: Any) -> Iterable[int | str]:
    """What entries_of() are called: their places, or the names that the training code gave them."""
    if isinstance(value, dict):
        return map(str, value)
    if dataclasses.is_dataclass(value):
        return (entry.name for entry in dataclasses.fields(value))
    return count()


def paths_in(kind: type, value: Any, depth: int = 0) -> Iterator[Position]:
    """Where each of tensors_in() stands, from the outside in: (1, "hidden", 0)."""
    if isinstance(value, kind):
        yield ()
    elif depth < MAX_DEPTH:
        for key, entry in zip(_keys_of(value), entries_of(value)):
            for path in paths_in(kind, entry, depth + 1):
                yield key, *path


def _first_tensors(kind: type, value: Any) -> tuple[list[Any], list[int]]:
    """Up to MAX_TENSORS tensors with the position of the entry that each lies in."""
    if isinstance(value, kind):
        return [value], [0]
    tensors: list[Any] = []
    positions: list[int] = []
    for position, entry in enumerate(entries_of(value)):
        for tensor in tensors_in(kind, entry, 1):
            tensors.append(tensor)
            positions.append(position)
            if len(tensors) == MAX_TENSORS:
                return tensors, positions
    return tensors, positions


def _address(framework: Framework, given: tuple[Any, ...]) -> int:
    """Where the first tensor lies, 0 when that cannot be said."""
    try:
        return next((framework.address(tensor) for tensor in tensors_in(framework.tensor, given)), 0)
    except RuntimeError:
        return 0


def _versions(kind: Any, values: Iterable[Any]) -> int:
    """Grows when one of these tensors is changed in place."""
    total = 0
    for value in values:
        if isinstance(value, kind):
            try:
                total += value._version
            except RuntimeError:
                pass  # made in inference mode: nobody counts
        elif isinstance(value, (tuple, list, dict)):
            total += _versions(kind, tensors_in(kind, value))
    return total


def value_words(value: Any) -> str:
    """ "(NoneType, Tensor)"; "a Tensor"."""
    if not isinstance(value, (tuple, list)):
        return f"a {type(value).__name__}"
    return "(" + ", ".join(type(entry).__name__ for entry in value) + ("," if len(value) == 1 else "") + ")"


class Wants:
    """What the config asks for of one module."""

    def __init__(self, config: MonitorConfig, targets: TargetSet, name: str, vpp: int) -> None:
        self._config, self._targets, self._name, self._vpp = config, targets, name, vpp
        self._is_target = len(targets) > 0 and targets.selects(name, vpp)
        self.selections = [each for each in targets.selections(name, vpp) if each] if self._is_target else []

    def has_side(self, side: str) -> bool:
        """Whether forward_only and backward_only leave "output" or "output_grad" in."""
        config = self._config
        return not (config.forward_only if side.endswith("_grad") else config.backward_only)

    def __call__(self, slot: Slot, place: Place, gradient: bool) -> bool:
        if not self.has_side("_grad" if gradient else ""):
            return False
        return not self._is_target or self._targets.selects_slot(self._name, slot, gradient, self._vpp, place)


class GradientOfActivation(Hook):
    """Tensor hook of one tensor at one call; holds numbers only."""

    __slots__ = ("_engine", "_row", "_step", "_has_come")

    def __init__(self, engine: weakref.ReferenceType[Clock], row: int, step: int) -> None:
        self._engine = engine
        self._row = row
        self._step = step
        self._has_come = False

    def __call__(self, gradient: Any) -> None:
        engine = self._engine()
        if engine is not None and gradient is not None and engine.collecting and engine.step == self._step:
            if self._has_come:
                engine.tell(SEVERAL_BACKWARDS)
            self._has_come = True
            engine.measure(Kind.ACTV_GRAD, gradient, self._row)
        return None


class Before(Hook):
    """Forward pre-hook (with kwargs) that belongs to a ModuleHook."""

    __slots__ = ("_hook",)

    def __init__(self, hook: ModuleHook) -> None:
        self._hook = hook

    def __call__(self, module: Any, args: Any, kwargs: Any = None) -> None:
        if not self._hook.framework.is_recording():
            self._hook.begins(module, None if kwargs is None else (*args, *kwargs.values()))
        return None


class ModuleHook(Hook):
    """Forward hook (with kwargs) of one module. Thread: the one that runs forward."""

    __slots__ = (
        "framework", "_engine", "_name", "_vpp", "_wants", "_rows", "_awaited", "_mark", "_calls", "_seen_as",
        "_chosen", "_open", "inputs", "is_in_place", "has_missed",
    )  # fmt: skip

    def __init__(self, engine: Clock, name: str, vpp: int, wants: Wants) -> None:
        self.framework = engine.framework
        self._engine = weakref.ref(engine)
        self._name = name
        self._vpp = vpp
        self._wants = wants
        self._seen_as: dict[str, str] = {}  # side -> what passed there at first, in words
        self._chosen: set[str] = set()  # "output_grad": sides of which something is collected
        self._rows: dict[tuple[Any, ...], tuple[int, int, Any, Any]] = {}  # rows, and the shape and dtype seen last
        self._awaited: dict[tuple[Any, ...], SeriesDesc] = {}  # of the rows that are _AWAITED
        self._mark = (-1, -1, -1)
        self._calls: list[tuple[bool, int]] = []  # with gradients?, where the first input lies
        self._open: list[tuple[int, int]] = []  # calls that have begun: the first node, the versions of the inputs
        self.inputs = Inputs()
        self.is_in_place = False  # the module changes its inputs: they are read before it runs
        self.has_missed = False  # inputs that it changed when nobody knew

    @property
    def name(self) -> str:
        return self._name

    @property
    def has_run(self) -> bool:
        return self._mark[0] >= 0

    def empty_selections(self) -> list[str]:
        """A sentence for each element that a target asks for and that never passed."""
        found = []
        for selection in self._wants.selections:
            for side, spec in selection.items():
                seen = self._seen_as.get(side.removesuffix("_grad"))
                if seen is not None and side not in self._chosen and self._wants.has_side(side):
                    what = seen
                    if side.endswith("_grad"):
                        is_awaited = any(f"{key[0]}_grad" == side for key in self._awaited)
                        what += ", which needs no gradient" if is_awaited else " and its gradients"
                    found.append(f'the target {self._name} asks for "{side}": "{spec}", but what passed was {what}')
        return found

    def __call__(self, module: Any, args: Any, kwargs: Any, *output: Any) -> None:
        if self.framework.is_recording() or not output:
            return None  # inside a compiled region nothing may be read: it would change the graph
        first, versions = self._open.pop() if self._open else (-1, _UNKNOWN)
        engine = self._engine()
        if engine is None or not engine.collecting:
            return None
        try:
            self._seen(engine, module, (*args, *kwargs.values()), output[0], first, versions)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add("activations", error)
        return None

    def _is_recompute(self) -> bool:
        """Whether this forward runs inside a backward pass: activation checkpointing computes again what was seen."""
        return self.framework.backward_pass() != -1

    def begins(self, module: Any, given: tuple[Any, ...] | None) -> None:
        """The module is called; given: None where that is not known. Never raises."""
        versions, engine = _UNKNOWN, self._engine()
        if engine is not None and given is not None:
            try:
                is_read = self.is_in_place and self._reads(engine, module, given)
                versions = _IS_READ if is_read else _versions(self.framework.tensor, given)
            except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
                engine.strikes.add("activations", error)
        self._open.append((self.framework.beginning(given), versions))
        if len(self._open) > MAX_OPEN:
            del self._open[0]

    def _reads(self, engine: Clock, module: Any, given: tuple[Any, ...]) -> bool:
        """Measures what the module is about to change. False: it is not known as which call."""
        if engine.micro_mark != self._mark:
            self._open.clear()  # calls that an exception ended
        if not engine.collecting or not self._is_looked_at(engine, module) or self._is_recompute() or self._open:
            return False
        if len(self._calls) < MAX_CALLS:
            engine.measure_together(Kind.ACTV, self._side(engine, "input", given, len(self._calls), True, False))
        return True

    def _is_looked_at(self, engine: Clock, module: Any) -> bool:
        """Whether a call that begins or has ended is of the training; counts its calls anew in each micro step."""
        if not (self.framework.has_gradients() or module.training) or engine.strikes.is_off("activations"):
            return False
        mark = engine.micro_mark
        if mark != self._mark:
            self._mark = mark
            self._calls.clear()
        return True

    def _seen(self, engine: Clock, module: Any, given: tuple[Any, ...], output: Any, first: int, versions: int) -> None:
        if not self._is_looked_at(engine, module):
            return
        if self._is_recompute():
            self._gradients_of_recompute(engine, given, output, first)
            return
        call = len(self._calls)
        if call >= MAX_CALLS:
            engine.tell(f"{self._name} ran more than {MAX_CALLS} times in one micro step; the first ones are kept")
            return
        kind = self.framework.tensor
        is_as_given = not self.is_in_place if versions == _UNKNOWN else versions == _versions(kind, given)
        if not is_as_given and versions != _IS_READ:
            self.is_in_place = self.has_missed = True
        grad_enabled = self.framework.has_gradients()
        self._calls.append((grad_enabled, _address(self.framework, given)))
        found = self._side(engine, "input", given, call, is_as_given, grad_enabled, output, first)
        found += self._side(engine, "output", output, call, True, grad_enabled)
        engine.measure_together(Kind.ACTV, found)

    def _gradients_of_recompute(self, engine: Clock, given: tuple[Any, ...], output: Any, first: int) -> None:
        """Reentrant checkpointing: the first forward ran without gradients, this one carries them."""
        calls = [i for i, (had_gradients, _) in enumerate(self._calls) if not had_gradients]
        if len(calls) > 1:  # which of them? A checkpoint gives its segment the same memory again
            address = _address(self.framework, given)
            calls = [i for i in calls if self._calls[i][1] == address]
            if len(calls) != 1:
                why = "it ran more than once under reentrant checkpointing, whose recomputation does not say which"
                engine.not_observed(Kind.ACTV_GRAD, self._name, why)
                return
        if calls:
            self._side(engine, "input", given, calls[0], False, True, output, first)
            self._side(engine, "output", output, calls[0], False, True)

    def _side(
        self,
        engine: Clock,
        side: str,
        value: Any,
        call: int,
        wants_value: bool,
        wants_grad: bool,
        result: Any = None,
        first: int = -1,
    ) -> list[tuple[int, Any]]:
        """Asks for the gradients of one side; (row, tensor) of the values to be measured now."""
        tensors, positions = _first_tensors(self.framework.tensor, value)
        values = []
        many = len(tensors) > 1
        gradients = []
        if self._wants.selections and side not in self._seen_as:
            self._seen_as[side] = value_words(value)
        for i, tensor in enumerate(tensors):
            key = (side, i, positions[i], many, call, engine.micro)
            rows = self._rows.get(key)
            if rows is None:
                role = Role.INPUT if side == "input" else Role.OUTPUT
                path = next(islice(paths_in(self.framework.tensor, value), i, None), ())
                slot = Slot(role, i if many else -1, call=call, position=path)
                rows = self._rows[key] = self._add(engine, key, slot, Place(positions[i], i), tensor)
            elif rows[2] != tensor.shape or rows[3] is not tensor.dtype:
                rows = self._rows[key] = _redescribed(engine, rows, tensor)
            if wants_value and rows[0] >= 0:
                values.append((rows[0], tensor))
            if wants_grad and rows[1] != _UNWANTED and self.framework.needs_gradient(tensor):
                if rows[1] == _AWAITED:
                    rows = self._rows[key] = self._add_gradient(engine, key, rows, tensor)
                gradients.append((rows[1], tensor))
        if gradients and side == "input" and self.inputs.is_share:
            gradients = self.inputs.watch(engine, gradients, tensors, tensors_in(self.framework.tensor, result), first)
        for row, tensor in gradients:
            self.framework.on_gradient(tensor, GradientOfActivation(engine.reference, row, engine.step))
        return values

    def _add(
        self, engine: Clock, key: tuple[Any, ...], slot: Slot, place: Place, tensor: Any
    ) -> tuple[int, int, Any, Any]:
        form = Form.INPUT_SIDE if slot.role is Role.INPUT else Form.NONE
        desc = SeriesDesc(
            name=self._name,
            slot=slot,
            vpp_stage=self._vpp,
            micro_step=engine.micro_label(),
            form=form,
            **self.framework.described(tensor),
        )
        value, gradient = -1, _UNWANTED
        if self._wants(slot, place, False):
            value = engine.table(Kind.ACTV).add(desc)
            self._chosen.add(slot.role.word)
        if self._wants(slot, place, True) and not tensor.is_complex():
            self._awaited[key] = dataclasses.replace(desc, form=form | Form.TOTAL)
            gradient = _AWAITED
        return value, gradient, tensor.shape, tensor.dtype

    def _add_gradient(
        self, engine: Clock, key: tuple[Any, ...], rows: tuple[int, int, Any, Any], tensor: Any
    ) -> tuple[int, int, Any, Any]:
        """The row of a gradient whose tensor needs one for the first time, as that tensor is now."""
        desc = dataclasses.replace(self._awaited.pop(key), **self.framework.described(tensor))
        self._chosen.add(f"{desc.slot.role.word}_grad")
        return rows[0], engine.table(Kind.ACTV_GRAD).add(desc), rows[2], rows[3]


def _redescribed(engine: Clock, rows: tuple[int, int, Any, Any], tensor: Any) -> tuple[int, int, Any, Any]:
    """Notes that a tensor's shape or element type has changed: files name both at each step; the dashboard keeps the
    first."""
    now = engine.framework.described(tensor)
    new = now["shape"], now["dtype"], now["torch_dtype"]
    for kind, row in ((Kind.ACTV, rows[0]), (Kind.ACTV_GRAD, rows[1])):
        if row >= 0:
            engine.table(kind).changed[row] = new
    return rows[0], rows[1], tensor.shape, tensor.dtype


class Activations(Part):
    """The selected modules' hooks, installed only while something is collected."""

    def __init__(self, engine: Clock, modules: list[tuple[str, int, Any, Wants]]) -> None:
        """modules: (name, chunk, module, what is wanted of it)."""
        super().__init__(engine)
        self._hooks = [(module, ModuleHook(engine, name, vpp, wants)) for name, vpp, module, wants in modules]
        below = engine.framework.modules
        for module, hook in self._hooks:
            hook.is_in_place = any(getattr(part, "inplace", False) is True for _, part in below(module))
        self._reported = False

    def hooked_modules(self) -> list[tuple[str, Any]]:
        return [(hook.name, module) for module, hook in self._hooks]

    def hooks(self) -> list[Any]:
        framework, config = self.engine.framework, self.engine.config
        inside = framework.unhookable(self.engine.roots)
        is_share = config.actv_grad_input == "share" and not config.forward_only
        handles = []
        for module, hook in self._hooks:
            if id(module) not in inside:
                hook.inputs.is_share = is_share
                handles.append(framework.after_forward(module, hook, True))
                handles.append(framework.before_forward(module, Before(hook), True))
        return handles

    def finish_step(self) -> None:
        """After the first collected step, names the modules that never ran where they can be seen."""
        engine = self.engine
        tell_totals(engine, ((hook.name, hook.inputs) for _, hook in self._hooks))
        missed = [hook for _, hook in self._hooks if hook.has_missed]
        for hook in missed:
            hook.has_missed = False
        if missed:
            engine.tell(
                f"the input of {listed([hook.name or 'the whole model' for hook in missed])} was changed in place "
                "before it could be measured; from the next call on it is read before the module runs"
            )
        if self._reported:
            return
        self._reported = True
        for _, hook in self._hooks:
            for sentence in hook.empty_selections():
                engine.tell(f"{sentence}; nothing of it is collected")
        silent = [hook.name or "(model)" for _, hook in self._hooks if not hook.has_run]
        if silent and len(silent) == len(self._hooks):
            engine.tell(
                "not observed: activations, because no selected module ran outside compiled code; "
                "select modules around the compiled ones"
            )
        elif silent:
            engine.tell(
                f"not observed in the first step: activations of {listed(silent)} (not called, or inside compiled code)"
            )


def activations(asked: Asked) -> Iterable[Part]:
    """The part that watches what the config selects."""
    config, targets, is_called = asked.config, asked.targets, asked.engine.framework.is_called
    modules = [
        (name, vpp, module, Wants(config, targets, name, vpp))
        for name, vpp, module in asked.modules()
        if is_called(module) and (targets.selects(name, vpp) or config.all_xy)
    ]
    modules = _without_wrappers(asked, modules)
    return [Activations(asked.engine, modules)] if modules else []


def _without_wrappers(asked: Asked, modules: list[tuple[str, int, Any, Wants]]) -> list[tuple[str, int, Any, Wants]]:
    """One of a wrapper and the module in it, since both are called the same: the module, but under checkpointing the
    wrapper, inside of which it runs twice."""
    framework, places = asked.engine.framework, {(name, vpp) for name, vpp, _, _ in modules}
    inside = framework.unhookable(asked.chunks)
    seen = {id(module) for _, _, module, _ in modules} - inside
    return [
        (name, vpp, module, wants)
        for name, vpp, module, wants in modules
        if id(framework.wrapped(module)) not in seen and (wrapper_of(name), vpp) not in places
    ]
