# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that was opened: what it says, what was measured, what becomes of it."""

from __future__ import annotations

import html
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from .binding import NativeRun, ReadError, selection_of
from .frame import Frame
from .picture import Picture, draw
from .tablefile import write_table


@dataclass(frozen=True)
class FollowedStep:
    """A step that every process has told all of."""

    step: int
    frame: Frame


class Run:
    """A recorded run, archived or live. Every question is answered as things are at that moment; nothing is written.

    Threads: any, one question at a time.
    """

    def __init__(self, run: str, data_dir: str | None = None) -> None:
        self._native = NativeRun(run, data_dir)

    # What it says of itself.

    def facts(self) -> dict[str, Any]:
        """Names, steps, processes and what was measured, as telltale_reader.h lists them."""
        found: dict[str, Any] = self._native.ask("facts")
        return found

    @property
    def name(self) -> str:
        return str(self.facts()["name"])

    @property
    def id(self) -> str:
        return str(self.facts()["id"])

    @property
    def path(self) -> str:
        return str(self.facts()["path"])

    @property
    def state(self) -> str:
        """As `telltale runs` says it: live, finished, failed, interrupted, lost or damaged."""
        return str(self.facts()["state"])

    @property
    def is_live(self) -> bool:
        """Whether a process may still add something."""
        return self.state == "live"

    @property
    def steps(self) -> range:
        """From the first to the last that anything was stored of."""
        facts = self.facts()
        return range(facts["first_step"], facts["last_step"] + 1)

    @property
    def ranks(self) -> list[int]:
        return sorted({source["rank"] for source in self.facts()["sources"]})

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The kinds that were measured, and the statistics of each."""
        return {kind: of["stats"] for kind, of in self.facts()["kinds"].items()}

    def document(self) -> dict[str, Any]:
        """hyperparameters, environment, environment_by_rank, tags, notes and config."""
        found: dict[str, Any] = self._native.ask("document")
        return found

    def config(self) -> dict[str, Any]:
        """The monitor's config.json as it is in force."""
        found: dict[str, Any] = self.document()["config"]
        return found

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The log, oldest first, as `telltale log --json` says it; records of one kind, or all."""
        found: list[dict[str, Any]] = self._native.ask("log", kind.encode() if kind else None)
        return found

    def incidents(self) -> list[dict[str, Any]]:
        """What was found wrong while it was recorded, first cause first, as `telltale incidents --json`."""
        found: list[dict[str, Any]] = self._native.ask("incidents")
        return found

    # What was measured.

    def series(
        self,
        kind: str | Sequence[str] | None = None,
        stat: str | Sequence[str] | None = None,
        modules: str = "",
        ranks: int | Sequence[int] | None = None,
    ) -> list[dict[str, Any]]:
        """The tensors and scalars that there are: name, slot, kind, rank, attempt, stats, shape, dtype, ..."""

        chosen = json.dumps(selection_of(kind, stat, modules, ranks)).encode()
        found: list[dict[str, Any]] = self._native.ask("series", chosen)
        return found

    def frame(
        self,
        kind: str | Sequence[str] | None = None,
        stat: str | Sequence[str] | None = None,
        modules: str = "",
        ranks: int | Sequence[int] | None = None,
        steps: int | slice | range | tuple[int, int] | None = None,
        threads: int = 0,
    ) -> Frame:
        """Every stored value of what is chosen; all of it where nothing is said, histograms (stat="hist") apart.

        kind: "grad_reduced", ...; stat: "norm", ...; modules: a text, a glob or a /regular expression/, as everywhere
        in Telltale; steps: one, a slice or range (which end before their stop), or a pair (first, last). threads: that
        read; 0 = as there are processors.
        """
        made = Frame(self._native.frame(selection_of(kind, stat, modules, ranks, steps), threads))
        if made.damaged:
            warnings.warn(
                f"{made.damaged} values of this selection cannot be read: the file is damaged"
                f" (`telltale inspect --verify {self.path}` says where)",
                stacklevel=2,
            )
        return made

    def follow(self, *, poll: float = 0.2, start: int | None = None, **selection: Any) -> Iterator[FollowedStep]:
        """Each step as soon as every process has told all of it, with what frame(**selection) has of it; ends when the
        run does. start: the first step that is wanted, else the run's first."""
        done = None if start is None else start - 1
        while True:
            facts = self.facts()
            first = facts["first_step"] if done is None else done + 1
            for step in range(first, facts["durable_step"] + 1):
                yield FollowedStep(step, self.frame(**{**selection, "steps": step}))
                done = step
            if facts["state"] != "live":
                return
            time.sleep(poll)

    def export(self, path: str | os.PathLike[str], form: str = "parquet", **selection: Any) -> dict[str, Any]:
        """Writes what frame(**selection) would read as a Parquet or Arrow file, with the run's config, incidents and
        log in its metadata; says what was written and what was left out."""
        return write_table(self, path, form, **selection)

    # Pictures.

    def picture(
        self, view: str = "heatmap", *, format: str = "png", size: tuple[int, int] | None = None, **options: Any
    ) -> Picture:
        """A view as the window shows it; options are those of `telltale render`: kind, stat, rank, ..."""
        return draw(self.path, view, format, size, options)

    def heatmap(self, **options: Any) -> Picture:
        """picture("heatmap", ...)"""
        return self.picture("heatmap", **options)

    # As a thing of Python.

    def close(self) -> None:
        """Frames that were read live on."""
        self._native.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            facts = self.facts()
        except ReadError:
            return "<telltale.Run: closed>"
        steps = f"steps {facts['first_step']} to {facts['last_step']}"
        return f"<telltale.Run {facts['name']!r}: {steps}, {facts['state']}>"

    def _repr_html_(self) -> str:
        facts = self.facts()
        created = datetime.fromtimestamp(facts["created_ns"] / 1e9, timezone.utc)
        incidents = self.incidents()
        rows = {
            "Run": f"{facts['name']} ({facts['id']})",
            "State": facts["state"],
            "Started": created.strftime("%Y-%m-%d %H:%M:%S UTC"),
            "Steps": f"{facts['first_step']} to {facts['last_step']}",
            "Ranks": str(len(self.ranks)),
            "Measured": ", ".join(f"{kind} ({of['series']})" for kind, of in facts["kinds"].items()),
            "First incident": incidents[0]["sentence"] if incidents else "nothing abnormal",
            "Damage": " ".join(facts["damage"]),
        }
        lines = (
            f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in rows.items()
            if value
        )
        return f"<table>{''.join(lines)}</table>"


def open_run(run: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None = None) -> Run:
    """A run by the path of its file, or by its id (or the beginning of one) as `telltale runs` lists it.

    data_dir: where ids are looked up instead of $TELLTALE_DATA_DIR, else ~/.local/share/telltale. A run that is being
    recorded can be opened, too, and followed. Raises ReadError with a sentence.
    """
    return Run(os.fspath(run), None if data_dir is None else os.fspath(data_dir))
