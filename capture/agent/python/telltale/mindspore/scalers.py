# SPDX-License-Identifier: GPL-3.0-or-later
"""Loss scaling: whether the gradients of a step are scaled, and whether a scaler has left a step out.

MindSpore scales in cells (TrainOneStepCell, TrainOneStepWithLossScaleCell), which stand on the stack when an optimizer
steps, and by the scalers of mindspore.amp, which a training calls between its parts. Of those only that somebody looks
one of their methods up is noticed: what is called, compiled or inspected is the genuine method.
"""

from __future__ import annotations

import inspect
import math
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable

from mindspore import amp, nn

_MOST_FRAMES = 24
_METHODS = ("scale", "unscale", "adjust")


def _codes(*cells: Any) -> set[Any]:
    return {getattr(inspect.unwrap(cell.construct), "__code__", None) for cell in cells}


_SCALING = _codes(nn.TrainOneStepWithLossScaleCell)
_STEPPING = _codes(nn.TrainOneStepCell)


def scale_above() -> float:
    """The loss scale under which the cell trains that has called this optimizer, 1 where there is none; NaN under a
    scale that changes as it goes, which the cell takes out again before the optimizer gets the gradients. Looks into no
    frame but that cell's: asking one for its variables keeps them alive as long as it runs."""
    frame: Any = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if frame.f_code in _SCALING:
            return math.nan
        if frame.f_code in _STEPPING:
            return float(getattr(frame.f_locals.get("self"), "sens", 1.0))
        frame = frame.f_back
    return 1.0


def unscales_itself(optimizer: Any) -> bool:
    """Whether an optimizer is given gradients as they were scaled."""
    if getattr(optimizer, "need_scale", False):  # its own argument loss_scale
        return True
    scale = scale_above()
    return not math.isnan(scale) and scale != 1


class _Noticed:
    """Stands where a class has a method, and gives that method."""

    def __init__(self, genuine: Any, name: str) -> None:
        self.genuine = genuine
        self._name = name
        self.__isabstractmethod__ = getattr(genuine, "__isabstractmethod__", False)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None:
            _patch.notice(self._name)
        return self.genuine.__get__(instance, owner)


class _Handle:
    def __init__(self, hear: weakref.WeakMethod[Callable[[str], None]]) -> None:
        self._hear = hear

    def remove(self) -> None:
        _patch.discard(self._hear)


class _Patch:
    """What stands in the scalers' classes while somebody watches; one for the process. Thread: any."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._heard: tuple[weakref.WeakMethod[Callable[[str], None]], ...] = ()
        self._placed: list[tuple[Any, str, _Noticed]] = []

    def add(self, hear: Callable[[str], None]) -> _Handle:
        reference = weakref.WeakMethod(hear)
        with self._lock:
            self._heard += (reference,)
        self.renew()
        return _Handle(reference)

    def discard(self, hear: weakref.WeakMethod[Callable[[str], None]]) -> None:
        with self._lock:
            self._heard = tuple(one for one in self._heard if one is not hear and one() is not None)
            if self._heard:
                return
            for owner, name, ours in self._placed:
                if vars(owner).get(name) is ours:
                    setattr(owner, name, ours.genuine)
            self._placed = []

    def renew(self) -> None:
        """Scalers of classes that were made since."""
        with self._lock:
            if not self._heard:
                return
            for owner in _classes(getattr(amp, "LossScaler", object)):
                for name in _METHODS:
                    genuine = vars(owner).get(name)
                    if inspect.isfunction(genuine):
                        ours = _Noticed(genuine, name)
                        setattr(owner, name, ours)
                        self._placed.append((owner, name, ours))

    def notice(self, name: str) -> None:
        for reference in self._heard:
            hear = reference()
            if hear is not None:
                hear(name)


def _classes(base: Any) -> Iterator[Any]:
    """Below the scalers' base."""
    if base is object:
        return
    for one in base.__subclasses__():
        yield one
        yield from _classes(one)


_patch = _Patch()
renew = _patch.renew


def watch(hear: Callable[[str], None]) -> Any:
    """hear(name of a method) is called when a scaler's is looked up, as long as whom it belongs to lives. It never
    raises. The handle."""
    return _patch.add(hear)
