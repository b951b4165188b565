# SPDX-License-Identifier: GPL-3.0-or-later
"""The attention map of a head, queries x keys, made coarse: never the S x S matrix, only some rows of it at a time.

A cell is the mean, over the queries of its row, of what softmax(scale * q . k^T) gives to the keys of its column
together: rows add up to 1, and where a cell is one query and one key it is the weight itself. NaN stands where a score
of one of the queries was not finite, -1 where none of them may attend to any of the keys. Of the first sequence of the
batch; packed sequences are one. Nothing here draws random numbers, builds a graph, changes a tensor or waits for a
device.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..quiet import plain, quiet
from .attention import (
    HIDDEN,
    SCRATCH,
    Packing,
    add_mask,
    allowed_keys,
    arranged,
    broken_rows,
    mask_part,
    misfit,
    scores_of,
)

MOST_CELLS = 64  # rows and columns of a map
UNSEEN = -1.0
_MOST_SCORES = 1 << 28  # of a head; of longer sequences every n-th query is looked at
_MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class AttentionMaps:
    """Maps of some heads of one call, on the device of the queries."""

    cells: torch.Tensor  # [heads, rows, columns] float16
    heads: list[int]
    shape: tuple[int, int, int, int]  # query heads, key heads, queries, keys
    queries_per_row: int
    keys_per_column: int
    looked: int  # queries of each head that were looked at
    scale: float
    definition: str

    def head(self, call: int, chunk: int) -> dict[str, Any]:
        """What is written before the cells."""
        return {
            "format": 1,
            "dtype": "float16",
            "heads": self.heads,
            "shape": list(self.shape),
            "rows": self.cells.shape[1],
            "columns": self.cells.shape[2],
            "queries_per_row": self.queries_per_row,
            "keys_per_column": self.keys_per_column,
            "looked": self.looked,
            "scale": self.scale,
            "call": call,
            "chunk": chunk,
            "definition": self.definition,
        }


def packed(head: dict[str, Any], cells: bytes) -> bytes:
    """The stored document "attention_map": a line of JSON, then the cells, head by head and row by row."""
    return json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" + cells


def attention_maps(
    query: torch.Tensor,
    key: torch.Tensor,
    heads: Sequence[int],
    size: int = MOST_CELLS,
    scale: float | None = None,
    causal: bool = True,
    layout: str = "b,h,s,d",
    mask: torch.Tensor | None = None,
    *,
    align: str = "bottom_right",
    cu_seqlens_q: torch.Tensor | Sequence[int] | None = None,
    cu_seqlens_k: torch.Tensor | Sequence[int] | None = None,
) -> AttentionMaps | None:
    """At most `size` x `size` cells of each head that there is; None where there is none or nothing can be read. The
    rest as attention_stats() has it."""
    layout = layout.replace(" ", "")
    if misfit(query, key, layout):
        return None
    q, k, extra = plain(query), plain(key), None if mask is None else plain(mask)
    if q is None or k is None or (mask is not None and extra is None):
        return None
    with quiet(q.device):
        q, k = arranged(q, layout)[:1], arranged(k, layout)[:1]
        wanted = [head for head in heads if head < q.shape[1]]
        if not wanted:
            return None
        packing = None
        if layout == "t,h,d" and cu_seqlens_q is not None:
            packing = Packing(cu_seqlens_q, cu_seqlens_k, q.device)
        factor = 1 / math.sqrt(q.shape[3]) if scale is None else float(scale)
        grid = _Grid(q.shape[2], k.shape[2], size, q.device)
        group = q.shape[1] // k.shape[1]
        cells = [
            grid.cells(q[:, h : h + 1], k[:, h // group : h // group + 1], h, factor, causal, align, extra, packing)
            for h in wanted
        ]
        words = "" if grid.stride == 1 else f"; every {grid.stride}th query"
        words += f", causal ({align.replace('_', ' ')})" if causal else ""
        words += ", masked" if mask is not None else ""
        return AttentionMaps(
            torch.stack(cells).to(torch.float16),
            wanted,
            (q.shape[1], k.shape[1], q.shape[2], k.shape[2]),
            grid.stride * grid.height,
            grid.width,
            grid.at.numel(),
            factor,
            "share of a query's attention, mean over the queries of a row, sum over the keys of a column; first "
            "sequence" + words,
        )


class _Grid:
    """How queries and keys fall into cells."""

    def __init__(self, queries: int, keys: int, size: int, device: torch.device) -> None:
        most = max(1, min(_MOST_ROWS, _MOST_SCORES // keys))
        self.queries, self.keys = queries, keys
        self.stride = -(-queries // most)
        self.at = torch.arange(min(self.stride, queries) - 1, queries, self.stride, device=device)
        self.height = -(-self.at.numel() // size)
        self.width = -(-keys // size)
        self.rows, self.columns = -(-self.at.numel() // self.height), -(-keys // self.width)
        self.column = torch.arange(keys, device=device)

    def _by_column(self, values: torch.Tensor) -> torch.Tensor:
        """[rows, columns, keys of one], what there is beyond the last key is 0."""
        over = self.columns * self.width - values.shape[1]
        return torch.nn.functional.pad(values, (0, over)).view(-1, self.columns, self.width)

    def _end(self, rows: int, causal: bool, align: str) -> int:
        """Behind the last key that one of the first `rows` rows may attend to, at least one."""
        if not causal:
            return self.keys
        last = min(rows * self.stride, self.queries) - 1 + (self.keys - self.queries if align == "bottom_right" else 0)
        return max(1, min(self.keys, last + 1))

    def _by_row(self, values: torch.Tensor) -> torch.Tensor:
        """[rows of cells, queries of one, ...]"""
        over = self.rows * self.height - values.shape[0]
        return torch.nn.functional.pad(values, (0, 0, 0, over)).view(self.rows, self.height, -1)

    def cells(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        head: int,
        scale: float,
        causal: bool,
        align: str,
        mask: torch.Tensor | None,
        packing: Packing | None,
    ) -> torch.Tensor:
        """[rows, columns] float32 of one head, [1, 1, s, d] each."""
        shares = torch.empty(self.at.numel(), self.columns, device=q.device)
        sees = torch.ones(self.at.numel(), self.columns, dtype=torch.bool, device=q.device)
        step = max(1, SCRATCH // 4 // self.keys)
        for first in range(0, self.at.numel(), step):
            some = self.at[first : first + step]
            end = self._end(min(first + step, self.at.numel()), causal and packing is None, align)
            scores = scores_of(q.index_select(2, some).float(), k[:, :, :end], 1)
            scores *= scale
            part = mask_part(mask, 0, 1, slice(head, head + 1), some, self.queries)
            if part is not None and part.shape[-1] > 1:
                part = part[..., :end]
            allowed = allowed_keys(some, self.column[:end], self.queries, self.keys, causal, align, packing)
            allowed = add_mask(scores, allowed, part)
            is_broken = broken_rows(scores, allowed)
            if allowed is not None:
                allowed = allowed.expand_as(scores)
                scores.masked_fill_(~allowed, HIDDEN)
            blocks = self._by_column(torch.softmax(scores, -1)[0, 0]).sum(-1)
            if is_broken is not None:
                blocks.masked_fill_(is_broken[0, 0, :, None], math.nan)
            if allowed is not None:
                seen = self._by_column(allowed[0, 0]).any(-1)
                blocks.masked_fill_(~seen.any(-1, keepdim=True), 0)  # where all is hidden, all weighs alike
                sees[first : first + step] = seen
            shares[first : first + step] = blocks
        seeing = self._by_row(sees)  # what is beyond the last query sees nothing
        looking = seeing.any(-1).sum(1, keepdim=True)
        mean = self._by_row(shares).sum(1) / looking
        return mean.masked_fill(~seeing.any(1), UNSEEN)
