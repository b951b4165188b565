# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of an input's gradient that flows through one module.

Autograd adds up what all consumers of a tensor send back; a hook on the tensor sees that total. What one module sends
back is read where it leaves the nodes inside the module that consumed the tensor: post-hooks on nodes that are there
anyway, so that no node is added and no sum is taken in another order. The nodes are found by a walk from the module's
outputs back to its inputs, so the share is what flows through what the module returns. It is walked anew at every
call: a graph that differs from the last one in a single edge would otherwise give a wrong number that nobody sees.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..kinds import Form, Kind
from ..names import listed
from ..series import SeriesTable
from .clock import Clock
from .graph import Graph
from .hooks import Hook

SHARE = "share through the module"
TOTAL = "total over all consumers"
SEVERAL_BACKWARDS = (
    "several backward passes went through one forward: of the gradients of its activations the last pass's are shown"
)
MAX_NODES = 512  # of one walk, half a millisecond: a transformer's block has about 30
TOO_LARGE = f"more than {MAX_NODES} operations lie between its inputs and its outputs"
IN_PLACE = "it changes the tensor in place, and the gradient is that of the changed one"

Consumers = list[tuple[Any, list[int]]]  # nodes, and through which of their inputs each had the tensor


def consumers(graph: Graph, inputs: list[Any], outputs: list[Any], first: int) -> list[Consumers | str]:
    """Who inside a module consumes each of its inputs: nodes that `outputs` come from and that were made from number
    `first` on, which is where the module began. A sentence's end in place of the nodes: why they cannot be told."""
    edges: dict[tuple[Any, int], int] = {}
    leaves: dict[int, int] = {}
    found: list[Consumers | str] = []
    key = graph.key
    made = [graph.origin(tensor) for tensor in outputs]
    roots = {(key(node), number) for node, number in made if node is not None}
    for i, tensor in enumerate(inputs):
        node, number = graph.origin(tensor)
        is_leaf = node is None
        edge = (None if is_leaf else key(node), number)
        known = leaves.setdefault(id(tensor), i) if is_leaf else edges.setdefault(edge, i)
        found.append([])
        if known != i:
            found[i] = found[known] = "it is given the same tensor more than once"
        elif not is_leaf and graph.number(node) >= first and not graph.is_leaf(node):
            found[i] = IN_PLACE
        elif edge in roots or any(output is tensor for output in outputs):
            found[i] = "it returns the tensor itself"
    reached = _walk(graph, [node for node, _ in made if node is not None], edges, leaves, first)
    for i, mine in enumerate(found):
        if not isinstance(mine, str):
            found[i] = TOO_LARGE if reached is None else reached.get(i, [])
    return found


def _walk(
    graph: Graph, roots: list[Any], edges: dict[tuple[Any, int], int], leaves: dict[int, int], first: int
) -> dict[int, Consumers] | None:
    """Input -> its consumers; None when there are too many nodes."""
    found: dict[int, Consumers] = {}
    key, number, following, is_leaf_node = graph.key, graph.number, graph.following, graph.is_leaf
    seen = {key(node): node for node in roots}
    left = [node for node in seen.values() if number(node) >= first]
    while left:
        node = left.pop()
        for slot, (next_node, output) in enumerate(following(node)):
            if next_node is None:
                continue
            name = key(next_node)
            i = edges.get((name, output))
            if i is None:
                # A parameter's node is no way on; its number is the largest there is.
                is_leaf = is_leaf_node(next_node)
                i = leaves.get(id(graph.leaf(next_node))) if is_leaf and leaves else None
                if i is None:
                    if name not in seen:
                        seen[name] = next_node
                        if not is_leaf and number(next_node) >= first:
                            left.append(next_node)
                    continue
            mine = found.setdefault(i, [])
            if mine and mine[-1][0] is node:
                mine[-1][1].append(slot)
            else:
                mine.append((node, [slot]))
        if len(seen) > MAX_NODES:
            return None
    return found


class Inputs:
    """The gradients of one module's inputs: the share where it can be had, else the total over all consumers. Thread:
    the one that runs forward."""

    __slots__ = ("is_share", "why", "_first", "_rows", "_is_told")

    def __init__(self) -> None:
        self.is_share = False  # the config asks for it
        self.why = ""  # the total stands in for the share, as was found last
        self._is_told = False
        self._rows: dict[int, dict[bool, int]] = {}  # the row that the activations made -> is it the share? -> row

    def watch(
        self,
        engine: Clock,
        wanted: list[tuple[int, Any]],
        given: Iterable[Any],
        returned: Iterable[Any],
        first: int,
    ) -> list[tuple[int, Any]]:
        """Reads the shares of the tensors among (row, tensor) that have one. The others, with the rows of their totals.
        given: what the module was called with; returned: what came out; first: next_node() as it began."""
        needs_gradient = engine.framework.needs_gradient
        inputs = [tensor for tensor in given if needs_gradient(tensor)]
        numbers = {id(tensor): i for i, tensor in enumerate(inputs)}
        found = self._consumers(engine.framework.graph, inputs, list(returned), first)
        table = engine.table(Kind.ACTV_GRAD)
        rest = []
        for row, tensor in wanted:
            nodes = found[numbers[id(tensor)]]
            is_share = not isinstance(nodes, str)
            row = self._row(table, row, is_share)
            if row < 0:
                continue
            if isinstance(nodes, str):
                self.why = nodes
                rest.append((row, tensor))
            elif nodes:
                Share(engine, row, tensor, nodes)
        return rest

    def _consumers(self, graph: Graph, inputs: list[Any], outputs: list[Any], first: int) -> list[Consumers | str]:
        if first < 0:
            has_numbers = graph.next_number() >= 0
            why = "where it began was not seen" if has_numbers else "this framework does not number its nodes"
        elif self.why is TOO_LARGE:
            why = TOO_LARGE
        elif not outputs:
            why = "what it returns holds no tensor"
        else:
            try:
                return consumers(graph, inputs, outputs, first)
            except Exception as error:  # noqa: BLE001 - there are graphs that cannot be looked at
                why = f"its graph cannot be read ({type(error).__name__})"
        return [why] * len(inputs)

    def _row(self, table: SeriesTable, row: int, is_share: bool) -> int:
        """The row of a series that is what it says. The one that the activations made becomes that of the first use."""
        rows = self._rows.get(row)
        if rows is None or is_share not in rows:
            old = table.series[row]
            form = old.form & ~Form.TOTAL if is_share else old.form | Form.TOTAL
            new = replace(old, form=form, definition=SHARE if is_share else TOTAL)
            if rows is None:
                rows = self._rows[row] = {is_share: row}
                table.series[row] = new
            else:
                rows[is_share] = table.add(new)
        if row in table.changed and rows[is_share] >= 0:
            table.changed[rows[is_share]] = table.changed[row]
        return rows[is_share]

    def news(self) -> str:
        """Why the total stands in, once; "" when it does not."""
        if not self.why or self._is_told:
            return ""
        self._is_told = True
        return self.why


def tell_totals(engine: Clock, modules: Iterable[tuple[str, Inputs]]) -> None:
    """Names the modules where the total stands in for the share, once each."""
    names: dict[str, list[str]] = {}
    for name, inputs in modules:
        why = inputs.news()
        if why:
            names.setdefault(why, []).append(name or "the whole model")
    for why, those in names.items():
        engine.tell(
            f"the gradient of the input of {listed(those)} is the total over all consumers of the tensor, not the "
            f"share that flows through the module: {why}"
        )


class _Consumer(Hook):
    """Post-hook of a consuming node. Thread: autograd's."""

    __slots__ = ("_share", "_slots")

    def __init__(self, share: Share, slots: list[int]) -> None:
        self._share = share
        self._slots = slots

    def __call__(self, gradients: Any, _outputs: Any) -> None:
        for slot in self._slots:
            if slot < len(gradients) and gradients[slot] is not None:
                self._share.arrived(gradients[slot])
        return None


class Share(Hook):
    """One input at one call. With several consumers their gradients are added up in a copy, in the order in which
    autograd adds them, and measured when the tensor's gradient is whole: then this is the tensor's hook, too. Holds no
    tensor but that sum, and it only in between."""

    __slots__ = ("_engine", "_row", "_step", "_is_sum", "_sum", "_stream", "_has_come", "_left")

    def __init__(self, engine: Clock, row: int, tensor: Any, nodes: Consumers) -> None:
        self._engine: weakref.ReferenceType[Clock] = engine.reference
        self._row = row
        self._step = engine.step
        self._sum: Any = None
        self._stream: Any = None
        self._has_come = False
        count = sum(len(slots) for _, slots in nodes)
        self._is_sum = count > 1
        framework = engine.framework
        # Consumers that are still to come, where nothing else says that all have been there.
        self._left = -1 if framework.calls_leaves or not framework.is_leaf(tensor) else count
        for node, slots in nodes:
            engine.framework.graph.on_node(node, _Consumer(self, slots))
        if self._is_sum:
            engine.framework.on_gradient(tensor, self)

    def arrived(self, gradient: Any) -> None:
        """What one consumer sends back. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting or engine.step != self._step:
            return
        if not self._is_sum:
            self._is_whole(engine, gradient)
            return
        try:
            self._add(engine, gradient)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.ACTV_GRAD.word, error)

    def _add(self, engine: Clock, gradient: Any) -> None:
        framework = engine.framework
        gradient = framework.local(gradient)
        why = engine.measurer.refusal(gradient)
        stream = framework.stream_of(gradient) if not why else None
        if self._sum is None:
            self._stream = stream
        elif stream != self._stream:
            why = "its consumers run on several streams"
        if why:
            self._sum, self._step = None, -1
            desc = engine.table(Kind.ACTV_GRAD).series[self._row]
            engine.not_observed(Kind.ACTV_GRAD, f"{desc.name} {desc.slot}", why)
            return
        self._sum = framework.added(self._sum, gradient)
        self._left -= 1
        if self._left == 0:
            self(None)

    def __call__(self, _gradient: Any) -> None:
        total, self._sum = self._sum, None
        engine = self._engine()
        if total is not None and engine is not None and engine.collecting and engine.step == self._step:
            self._is_whole(engine, total)
        return None

    def _is_whole(self, engine: Clock, gradient: Any) -> None:
        if self._has_come:
            engine.tell(SEVERAL_BACKWARDS)
        self._has_come = True
        engine.measure(Kind.ACTV_GRAD, gradient, self._row)
