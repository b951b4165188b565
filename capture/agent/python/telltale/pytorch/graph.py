# SPDX-License-Identifier: GPL-3.0-or-later
"""Autograd's graph, as it is walked."""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import Any, Callable

import torch

from ..agent.graph import Graph


def _itself(node: Any) -> Any:
    return node


def _is_leaf(node: Any) -> bool:
    return type(node).__name__ == "AccumulateGrad"


def _on_node(node: Any, hook: Callable[..., None]) -> None:
    node.register_hook(hook)


GRAPH = Graph(
    origin=attrgetter("grad_fn", "output_nr"),
    key=_itself,
    number=methodcaller("_sequence_nr"),  # private names: autograd numbers the nodes of a thread as they are made
    following=attrgetter("next_functions"),
    is_leaf=_is_leaf,
    leaf=attrgetter("variable"),
    next_number=getattr(torch.autograd, "_get_sequence_nr", lambda: -1),
    on_node=_on_node,
)
