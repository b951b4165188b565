# SPDX-License-Identifier: GPL-3.0-or-later
"""What PrecisionDebugger is in every framework: one in a process, its config, its probe, and who hands it gradients."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from .. import identity
from ..console import log
from .probe import GradProbe
from .probeconfig import ProbeConfig, read_config

_NOBODY = "PrecisionDebugger: there is none; PrecisionDebugger(config_path) makes one"


class Debugger(ABC):
    """The one of its framework. Its methods may be called on the class, as msprobe's. Thread: training."""

    _one: ClassVar[Debugger | None] = None
    _config: ProbeConfig
    _probe: GradProbe | None
    _watch_of: Any

    def __new__(
        cls,
        config_path: str | os.PathLike[str] | dict[str, Any] | None = None,
        task: str | None = None,
        dump_path: str | None = None,
        level: str | None = None,
        model: Any = None,
        step: list[Any] | None = None,
    ) -> Any:
        """The one that there is, until stop(). What is wrong in its config is said, and the defaults hold. task,
        dump_path and step hold in place of the config's; level and model are of msprobe's other tasks."""
        config = read_config(config_path, task=task, dump_path=dump_path, step=step)
        found = cls._one
        if found is not None:
            if (config_path, task, dump_path, step) != (None,) * 4 and config != found._config:
                log.warning("PrecisionDebugger: there is one already, and its config holds until stop()")
            return found
        for problem in config.problems:
            log.warning("grad_probe config %s%s", problem, f"; {problem.instead}" if problem.instead else "")
        self = super().__new__(cls)
        self._config, self._probe, self._watch_of = config, None, None
        cls._one = self
        return self

    @classmethod
    def monitor(cls, module: Any) -> None:
        """Watches a model (or, in PyTorch and MindSpore, an optimizer) from the optimizer's next call on."""
        self = cls._one
        if self is None:
            log.warning(_NOBODY)
            return
        if self._watch_of is not None:
            self._watch_of.also(module)
            return
        rank = identity.rank()
        if identity.world_size() > 1 and rank not in self._config.rank:
            return
        self._probe = GradProbe(self._config, rank, identity.world_size(), cls._framework())
        self._watch_of = self._watch(self._probe, module)

    @classmethod
    def start(cls, *_given: Any, **_named: Any) -> None:
        """Of msprobe's other tasks."""
        log.warning("PrecisionDebugger: start() and step() are of msprobe's other tasks, which are not here")

    step = start

    @classmethod
    def stop(cls) -> None:
        """Ends it, and writes what is left. Without it that is done when the process ends."""
        self, cls._one = cls._one, None
        if self is None:
            return
        if self._watch_of is not None:
            self._watch_of.close()
        if self._probe is not None:
            self._probe.close()

    @staticmethod
    @abstractmethod
    def _framework() -> str:
        """Its name and version."""

    @staticmethod
    @abstractmethod
    def _watch(probe: GradProbe, watched: Any) -> Any:
        """Something with also(watched) and close(), which gives the probe every gradient at every call."""
