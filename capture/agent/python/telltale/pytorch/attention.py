# SPDX-License-Identifier: GPL-3.0-or-later
"""What attention heads do, from queries and keys: entropy, softmax maximum and largest logit per head, never the S x S
matrix.

The definition is the C++ agent's (capture/agent/torch/attentionstats.h): of softmax(scale * q . k^T) at evenly strided
queries, entropy is the mean of -sum p ln p in nats, softmax_max the mean of max p, and max_logit the largest score
before the softmax, scaled, with the mask added, of keys that may be attended to; here over all sequences of the batch
as well. Nothing here draws random numbers, builds a graph, changes a tensor or waits for a device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..quiet import plain, quiet

LAYOUTS = ("b,h,s,d", "b,s,h,d", "s,b,h,d", "h,s,d", "t,h,d")
_TO_BHSD = {"b,h,s,d": (0, 1, 2, 3), "b,s,h,d": (0, 2, 1, 3), "s,b,h,d": (1, 2, 0, 3)}
SCRATCH = 1 << 20  # elements of one temporary: 4 MiB in float32, three of them alive
HIDDEN = -1e30  # a score that weighs nothing, and finite: 0 * -inf would be NaN


@dataclass(frozen=True)
class AttentionStats:
    """One value per query head, on the device of the queries."""

    entropy: torch.Tensor  # [h] float32, nats; NaN where a score was not finite or no row was left
    softmax_max: torch.Tensor  # [h] float32, in (0, 1]
    max_logit: torch.Tensor  # [h] float32; NaN where a score was, or no row was left; +Inf where a score was
    skipped: torch.Tensor  # [h] int64: rows that may attend to nothing, left out of the means
    sampled: bool  # not every row of every sequence was looked at
    queries: int  # rows looked at per head and sequence ("t,h,d": per head)
    definition: str  # in words, for the series
    shape: tuple[int, int, int, int]  # query heads, key heads, queries, keys; 0 keys: sequences differ


def misfit(query: Any, key: Any, layout: str) -> str:
    """Why these queries and keys cannot be read, "" when they can."""
    layout = layout.replace(" ", "")
    if layout not in LAYOUTS:
        return f"the layout {layout!r} is none of {', '.join(LAYOUTS)}"
    dims = layout.count(",") + 1
    for name, tensor in (("queries", query), ("keys", key)):
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            return f"the {name} are no floating point tensor"
        if tensor.dim() != dims:
            return f"the {name} have {tensor.dim()} dimensions where {layout} has {dims}"
    head = layout.split(",").index("h")
    if query.shape[-1] != key.shape[-1]:
        return f"queries of width {query.shape[-1]} do not go with keys of width {key.shape[-1]}"
    if query.numel() == 0 or key.numel() == 0:
        return "there are no queries or no keys"
    if query.shape[head] % key.shape[head] != 0:
        return f"{query.shape[head]} query heads do not share {key.shape[head]} key heads evenly"
    if "b" in layout:
        batch = layout.split(",").index("b")
        if query.shape[batch] != key.shape[batch]:
            return f"{query.shape[batch]} sequences of queries do not go with {key.shape[batch]} of keys"
    return ""


def attention_stats(
    query: torch.Tensor,
    key: torch.Tensor,
    scale: float | None = None,
    causal: bool = True,
    layout: str = "b,h,s,d",
    max_queries: int = 32,
    mask: torch.Tensor | None = None,
    *,
    align: str = "bottom_right",
    cu_seqlens_q: torch.Tensor | Sequence[int] | None = None,
    cu_seqlens_k: torch.Tensor | Sequence[int] | None = None,
    first_sequence_only: bool = False,
) -> AttentionStats | None:
    """Entropy, softmax maximum and largest logit per query head; None when misfit() has something to say.

    scale: None = 1/sqrt(d). max_queries: rows per sequence, row r of R at (r+1)*S/R-1, so that the last one is always
    among them; 0 = all. Fewer key heads than query heads: query head i goes with key head i // group.
    causal with another number of keys than queries: align "bottom_right" lets the last query see every key (the C++
    agent, flash-attn from 2.1 on, decoding with a cache); "top_left" lets query i see keys 0..i (torch's
    scaled_dot_product_attention with is_causal).
    mask: broadcastable to [b, h, Sq, Sk]; bool: True = may attend; else added to the scaled scores, entries at half the
    lowest number of their dtype or below exclude the key.
    "t,h,d": sequences packed one after the other, split at cu_seqlens ([n + 1], from 0 to t; None = one sequence); the
    rows are then strided over all of them. first_sequence_only: what the C++ agent looks at.
    """
    layout = layout.replace(" ", "")
    if misfit(query, key, layout):
        return None
    q, k, extra = plain(query), plain(key), None if mask is None else plain(mask)
    if q is None or k is None or (mask is not None and extra is None):
        return None
    with quiet(q.device):
        q, k = arranged(q, layout), arranged(k, layout)
        is_cut = first_sequence_only and q.shape[0] > 1
        if first_sequence_only:
            q, k = q[:1], k[:1]
        length = q.shape[2]
        rows = min(length, max_queries) if max_queries > 0 else length
        at = (torch.arange(1, rows + 1, device=q.device) * length).div(rows, rounding_mode="floor") - 1
        bounds = None
        if layout == "t,h,d" and cu_seqlens_q is not None:
            bounds = Packing(cu_seqlens_q, cu_seqlens_k, q.device)
        sums = _Sums(q.shape[1], q.device)
        factor = 1 / math.sqrt(q.shape[3]) if scale is None else float(scale)
        _walk(q, k, at, factor, causal, align, extra, bounds, sums)
        words = f"mean over {rows} of {length} queries" if rows < length else f"mean over all {length} queries"
        words += "" if is_cut or q.shape[0] == 1 else f" of each of {q.shape[0]} sequences"
        words += f", causal ({align.replace('_', ' ')})" if causal else ""
        words += ", masked" if mask is not None else ""
        shape = (q.shape[1], k.shape[1], length, 0 if bounds is not None else k.shape[2])
        return sums.finish(rows < length or is_cut, rows, words, shape)


def arranged(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """[b, h, s, d] of what lies in a layout of LAYOUTS; what is packed is one sequence."""
    if layout in _TO_BHSD:
        return tensor.permute(_TO_BHSD[layout])
    return (tensor if layout == "h,s,d" else tensor.transpose(0, 1))[None]


class Packing:
    """Sequences packed one after the other. Everything stays on the device: reading it would wait for it."""

    def __init__(self, cu_q: Any, cu_k: Any, device: torch.device) -> None:
        self.q = torch.as_tensor(cu_q, device=device, dtype=torch.int64)
        self.k = self.q if cu_k is None else torch.as_tensor(cu_k, device=device, dtype=torch.int64)

    def span(self, at: torch.Tensor, causal: bool, align: str) -> tuple[torch.Tensor, torch.Tensor]:
        """First key and end of keys, [rows] each, that the queries at these positions may see."""
        sequence = torch.bucketize(at, self.q[1:], right=True).clamp_(max=self.q.numel() - 2)
        first, end = self.k[sequence], self.k[sequence + 1]
        if causal:
            local = at - self.q[sequence]
            if align == "bottom_right":
                local = local + (end - first) - (self.q[sequence + 1] - self.q[sequence])
            end = torch.minimum(end, first + local + 1)
        return first, end


class _Sums:
    """Sums over rows and sequences, and the largest, per head."""

    def __init__(self, heads: int, device: torch.device) -> None:
        wide = torch.float32 if device.type == "mps" else torch.float64
        self.entropy = torch.zeros(heads, dtype=wide, device=device)
        self.top = torch.zeros(heads, dtype=wide, device=device)
        self.logit = torch.full((heads,), -math.inf, device=device)
        self.used = torch.zeros(heads, dtype=torch.int64, device=device)
        self.skipped = torch.zeros(heads, dtype=torch.int64, device=device)

    def finish(self, sampled: bool, queries: int, words: str, shape: tuple[int, int, int, int]) -> AttentionStats:
        count = self.used.to(self.entropy.dtype)  # 0 rows: 0 / 0, no value
        logit = self.logit.masked_fill(self.used == 0, math.nan)
        entropy, top = (self.entropy / count).float(), (self.top / count).float()
        return AttentionStats(entropy, top, logit, self.skipped, sampled, queries, words, shape)


def _walk(
    q: torch.Tensor,
    k: torch.Tensor,
    at: torch.Tensor,
    scale: float,
    causal: bool,
    align: str,
    mask: torch.Tensor | None,
    packing: Packing | None,
    sums: _Sums,
) -> None:
    """All rows of all heads, [b, h, s, d], in pieces of bounded size: over sequences and key heads, then rows."""
    batch, heads, length, dim = q.shape
    key_heads, keys = k.shape[1], k.shape[2]
    group = heads // key_heads
    per_sequence = max(heads * at.numel() * keys, key_heads * keys * dim)
    batch_step = max(1, min(batch, SCRATCH // per_sequence))
    head_step = key_heads
    if per_sequence > SCRATCH:
        head_step = max(1, min(key_heads, SCRATCH // max(group * at.numel() * keys, keys * dim)))
    row_step = max(1, SCRATCH // (batch_step * head_step * group * keys))
    column = torch.arange(keys, device=q.device)
    for first_row in range(0, at.numel(), row_step):
        some = at[first_row : first_row + row_step]
        allowed = allowed_keys(some, column, length, keys, causal, align, packing)
        for b in range(0, batch, batch_step):
            for h in range(0, key_heads, head_step):
                query = q[b : b + batch_step, h * group : (h + head_step) * group].index_select(2, some).float()
                scores = scores_of(query, k[b : b + batch_step, h : h + head_step], group)
                scores *= scale
                part = mask_part(mask, b, batch_step, slice(h * group, (h + head_step) * group), some, length)
                _add_rows(scores, allowed, part, sums, slice(h * group, h * group + query.shape[1]))


def allowed_keys(
    rows: torch.Tensor,
    column: torch.Tensor,
    length: int,
    keys: int,
    causal: bool,
    align: str,
    packing: Packing | None,
) -> torch.Tensor | None:
    """[rows, columns]: which of `keys` keys (`column`: some of them) these of `length` queries may attend to; None =
    every one."""
    if packing is not None:
        start, end = packing.span(rows, causal, align)
        return (column >= start[:, None]) & (column < end[:, None])
    if not causal:
        return None
    last = rows + (keys - length if align == "bottom_right" else 0)
    return column <= last[:, None]


def scores_of(query: torch.Tensor, key: torch.Tensor, group: int) -> torch.Tensor:
    """[b, h, rows, keys] in float32; keys are widened a piece at a time."""
    b, heads, rows, dim = query.shape
    stacked = query.reshape(b, heads // group, group * rows, dim)
    keys = key.shape[2]
    step = max(1, SCRATCH // (b * key.shape[1] * dim))
    if step >= keys:
        out = torch.matmul(stacked, key.float().transpose(2, 3))
    else:
        out = torch.empty(b, heads // group, group * rows, keys, dtype=torch.float32, device=query.device)
        for first in range(0, keys, step):
            piece = key[:, :, first : first + step].float().transpose(2, 3)
            out[..., first : first + step] = torch.matmul(stacked, piece)
    return out.view(b, heads, rows, keys)


def mask_part(
    mask: torch.Tensor | None, b: int, batch_step: int, heads: slice, rows: torch.Tensor, length: int
) -> torch.Tensor | None:
    """The part of a mask that belongs to these sequences, heads and rows; dimensions of size 1 stay."""
    if mask is None:
        return None
    part = mask[(None,) * (4 - mask.dim())] if mask.dim() < 4 else mask
    if part.shape[0] > 1:
        part = part[b : b + batch_step]
    if part.shape[1] > 1:
        part = part[:, heads]
    return part.index_select(2, rows) if part.shape[2] == length and length > 1 else part


def _add_rows(
    scores: torch.Tensor, allowed: torch.Tensor | None, mask: torch.Tensor | None, sums: _Sums, heads: slice
) -> None:
    """Adds the rows of `scores` [b, h, rows, keys], which it overwrites: with d = s - max, H = -ln(p_max) - sum(p d),
    which does not cancel for large scores."""
    allowed = add_mask(scores, allowed, mask)
    is_broken = broken_rows(scores, allowed)
    if allowed is not None:
        scores.masked_fill_(~allowed, HIDDEN)
    p = torch.softmax(scores, -1)
    highest = p.amax(-1)
    largest = scores.amax(-1)
    scores -= largest[..., None]
    entropy = -highest.log() - p.mul_(scores).sum(-1)
    if is_broken is not None:
        entropy = entropy.masked_fill(is_broken, math.nan)
        highest = highest.masked_fill(is_broken, math.nan)
    wide = sums.entropy.dtype
    count = entropy.shape[0] * entropy.shape[2]
    if allowed is not None:
        sees = allowed.any(-1).expand(entropy.shape) if allowed.dim() < 3 else allowed.any(-1).expand_as(entropy)
        entropy, highest = torch.where(sees, entropy, 0), torch.where(sees, highest, 0)
        largest = largest.masked_fill(~sees, -math.inf)
        used = sees.sum((0, 2))
        sums.used[heads] += used
        sums.skipped[heads] += count - used
    else:
        sums.used[heads] += count
    sums.entropy[heads] += entropy.sum((0, 2), dtype=wide)
    sums.top[heads] += highest.sum((0, 2), dtype=wide)
    sums.logit[heads] = torch.maximum(sums.logit[heads], largest.amax((0, 2)))  # a NaN stays one


def add_mask(scores: torch.Tensor, allowed: torch.Tensor | None, mask: torch.Tensor | None) -> torch.Tensor | None:
    """Adds to the scores what a mask adds; which of them count, None = all."""
    if mask is None:
        return allowed
    if not mask.is_floating_point():
        may = mask.bool()
    else:
        may = mask > torch.finfo(mask.dtype).min / 2
        may = may | mask.isnan()
        scores += torch.where(may, mask, 0).float()
    return may if allowed is None else may & allowed


def broken_rows(scores: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor | None:
    """[b, h, rows]: rows with a score that counts and is not finite; None when there are none, as far as that can be
    known without waiting for the device."""
    if scores.device.type == "cpu" and math.isfinite(scores.sum().item()):
        return None
    is_broken = ~scores.isfinite()
    if allowed is not None:
        is_broken &= allowed
    return is_broken.any(-1)


def msprobe_head0(query: Any, key: Any, layout: str = "s,b,h,d") -> tuple[torch.Tensor, torch.Tensor] | None:
    """msprobe's attention_hook: (entropy, softmax_max), 0-dim, of head 0 of sequence 0 alone.

    Its meaning, kept: scale 1/sqrt(d) in the tensors' own dtype, always causal, the row maximum taken over all keys
    before masking, softmax in float32, p ln p only where p > 0, both values means over all rows. layout "s,b,h,d" or
    "b,s,h,d". None for what msprobe stumbles over (fewer than four dimensions, as many keys as queries not given).
    """
    layout = layout.replace(" ", "")
    if layout not in ("s,b,h,d", "b,s,h,d") or misfit(query, key, layout):
        return None
    q, k = plain(query), plain(key)
    if q is None or k is None:
        return None
    with quiet(q.device):
        q, k = (t[:, 0, 0] if layout == "s,b,h,d" else t[0, :, 0] for t in (q, k))
        length = q.shape[0]
        if k.shape[0] != length:
            return None
        entropy = torch.zeros((), device=q.device)
        top = torch.zeros((), device=q.device)
        column = torch.arange(length, device=q.device)
        step = max(1, SCRATCH // length)
        for first in range(0, length, step):
            scores = torch.matmul(q[first : first + step], k.t()) / q.shape[-1] ** 0.5
            scores = scores - scores.amax(1, keepdim=True)
            hidden = column > column[first : first + step, None]
            p = torch.softmax(scores.masked_fill(hidden, -math.inf).float(), 1)
            top += p.amax(1).sum()
            entropy -= torch.where(p > 0, p * p.log(), 0).sum()
        return entropy / length, top / length
