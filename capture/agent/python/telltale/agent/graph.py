# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

Edge = tuple[Any, int]  # a node (None = what needs no gradient), and which of its outputs


@dataclass
class Graph:
    """How a framework's recorded operations are walked. Functions and not methods: a module's walk calls them by the
    dozen."""

    origin: Callable[[Any], Edge]  # what made a tensor; no node: a leaf that is to be known by itself
    key: Callable[[Any], Any]  # tells nodes apart
    number: Callable[[Any], int]  # nodes are numbered as they are made
    following: Callable[[Any], Sequence[Edge]]  # towards the leaves
    is_leaf: Callable[[Any], bool]
    leaf: Callable[[Any], Any]  # the tensor of a leaf's node
    next_number: Callable[[], int]  # of the next node, -1 where the framework does not say
    on_node: Callable[[Any, Callable[..., None]], None]  # calls a hook with the gradients that a node sends on
