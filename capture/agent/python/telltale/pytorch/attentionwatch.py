# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the queries and keys of watched modules while their forward runs.

Three ways, the first that has something counts:
1. calls of torch.nn.functional.scaled_dot_product_attention during the forward, credited to the innermost watched
   module: exact scale, mask and causality. Seen where the name is looked up in torch.nn.functional at the call (Hugging
   Face, nn.MultiheadAttention without weights, most code); a reference that a module imported for itself is not.
2. nn.MultiheadAttention that returns weights: queries and keys are projected once more (two extra matrix products).
3. msprobe's convention: the module is called with (queries, keys, ...), positional or by name; layout from sa_order,
   scale and causality from the module's own attributes, causal where it has none.
Inside torch.compile nothing is read; install() before the first compiled call avoids a second compilation.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..agent.cost import timed
from ..quiet import plain, quiet
from .attention import AttentionStats, attention_stats, misfit
from .compiled import is_recompute

try:
    from torch.nn.attention.bias import CausalBias as _causal_bias
except ImportError:  # before torch 2.3
    _causal_bias = None

_SDPA_NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_MULTIHEAD_NAMES = ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask")
_QUERY_NAMES = ("query", "q", "query_layer", "query_states")
_KEY_NAMES = ("key", "k", "key_layer", "key_states")
MAX_CALLS = 64  # attention calls of one forward of one module that are kept

_original = torch.nn.functional.scaled_dot_product_attention
_frames = threading.local()
_install_lock = threading.Lock()
_installed = 0
_bare_calls = 0


# Named like the original: what replaces functions by their __name__ (context parallelism) must still find it.
def scaled_dot_product_attention(*args: Any, **kwargs: Any) -> torch.Tensor:
    """Stands in for torch's: the same call, looked at afterwards while a module is watched."""
    if torch.compiler.is_compiling():
        mask = args[3] if len(args) > 3 else kwargs.get("attn_mask")
        if _causal_bias is not None and type(mask) is _causal_bias:
            return _causal_bias._dispatch(*args, **kwargs)  # type: ignore[union-attr]
        return _original(*args, **kwargs)
    if torch.overrides.has_torch_function(args) or (kwargs and torch.overrides.has_torch_function(kwargs.values())):
        result = _call_bare(args, kwargs)
    else:
        result = _original(*args, **kwargs)
    stack = getattr(_frames, "stack", None)
    if stack:
        stack[-1].saw(args, kwargs)
    return result


def _call_bare(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    """Tensor subclasses (torch's CausalBias) ask whether they are called for F.scaled_dot_product_attention itself: for
    the length of such a call that name holds the original again, and nothing else is watched."""
    global _bare_calls
    with _install_lock:
        is_ours = torch.nn.functional.scaled_dot_product_attention is scaled_dot_product_attention or _bare_calls > 0
        if is_ours:
            _bare_calls += 1
            torch.nn.functional.scaled_dot_product_attention = _original
    try:
        return _original(*args, **kwargs)
    finally:
        if is_ours:
            with _install_lock:
                _bare_calls -= 1
                _put_in_place()


def _put_in_place() -> None:
    """With the lock held: the look-alike takes the original's place where it is wanted."""
    is_original = torch.nn.functional.scaled_dot_product_attention is _original
    if _installed > 0 and _bare_calls == 0 and is_original:
        torch.nn.functional.scaled_dot_product_attention = scaled_dot_product_attention


@dataclass(frozen=True)
class Scores:
    """Queries and keys of one call, and what attention_stats() is to know of them."""

    query: Any
    key: Any
    layout: str
    options: dict[str, Any]
    words: str = ""  # on how they were found


class _Frame:
    """One running forward of a watched module."""

    __slots__ = ("watch", "name", "found")

    def __init__(self, watch: AttentionWatch, name: str) -> None:
        self.watch = watch
        self.name = name
        self.found: list[AttentionStats] = []

    def saw(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if len(self.found) < MAX_CALLS:
            call = dict(zip(_SDPA_NAMES, args)) | dict(kwargs)
            stats = self.watch._guarded(self.name, len(self.found), _of_sdpa, call)
            if stats is not None:
                self.found.append(stats)


class AttentionWatch:
    """Attention statistics of the modules that the engine's hooks announce.

    enter() belongs into a forward pre-hook, leave() into the forward hook with kwargs; both only while collecting.
    reset() once per step drops what an exception in a forward left behind. Thread: any; forwards of different threads
    do not see each other.
    """

    def __init__(
        self,
        layout: str = "s,b,h,d",
        max_queries: int = 32,
        report: Callable[[str, BaseException], None] | None = None,
        sees: Callable[[str, int, Scores], None] | None = None,
    ) -> None:
        """layout: of modules called with queries and keys (sa_order). max_queries: 0 = all. report: internal errors.
        sees: told of every call that has statistics: its module, its number in the forward, its queries and keys."""
        self._layout = layout.replace(" ", "")
        self._max_queries = max_queries
        self._report = report
        self._sees = sees
        self._is_installed = False
        self.reasons: dict[str, str] = {}  # module -> why nothing was found in its last forward

    def install(self) -> None:
        """Puts the look-alike in place; counted, so several watches share it."""
        global _installed
        with _install_lock:
            if self._is_installed:
                return
            self._is_installed = True
            _installed += 1
            _known_to_jit(scaled_dot_product_attention)
            _put_in_place()

    def remove(self) -> None:
        """Takes it out again after the last watch, unless somebody else has put theirs on top."""
        global _installed
        self.reset()  # the forward in which the watch ends has begun
        with _install_lock:
            if not self._is_installed:
                return
            self._is_installed = False
            _installed -= 1
            is_ours = torch.nn.functional.scaled_dot_product_attention is scaled_dot_product_attention
            if _installed == 0 and is_ours:
                torch.nn.functional.scaled_dot_product_attention = _original

    def enter(self, name: str, module: torch.nn.Module) -> None:
        """The forward of a watched module begins. Recomputation and evaluation are not looked at."""
        if not module.training or is_recompute():
            return
        if not hasattr(_frames, "stack"):
            _frames.stack = []
        _frames.stack.append(_Frame(self, name))

    def leave(
        self, name: str, module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[AttentionStats]:
        """The forward ended: one entry per attention call in it, in order; none with the reason in `reasons`."""
        stack = getattr(_frames, "stack", None)
        if not stack or not any(frame.watch is self and frame.name == name for frame in stack):
            return []
        frame = stack.pop()
        while frame.watch is not self or frame.name != name:  # forwards that ended in an exception
            frame = stack.pop()
        if not frame.found:
            if type(module).forward is torch.nn.MultiheadAttention.forward:
                stats = self._guarded(name, 0, _of_multihead, dict(zip(_MULTIHEAD_NAMES, args)) | dict(kwargs), module)
            else:
                stats = self._guarded(name, 0, _of_arguments, (args, kwargs), module, self._layout)
            if stats is not None:
                frame.found.append(stats)
        if frame.found:
            self.reasons.pop(name, None)
        return frame.found

    def reset(self) -> None:
        """Forgets forwards of this thread that never ended."""
        stack = getattr(_frames, "stack", None)
        if stack:
            stack[:] = [frame for frame in stack if frame.watch is not self]

    @timed
    def _guarded(self, name: str, call: int, find: Callable[..., Any], *args: Any) -> AttentionStats | None:
        """find(*args) -> scores or a reason; never raises."""
        try:
            found = find(*args)
            if isinstance(found, Scores):
                stats = _stats(found, self._max_queries)
                if not isinstance(stats, str) and self._sees is not None:
                    self._sees(name, call, found)
                found = stats
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            found = f"{type(error).__name__}: {error}"
            if self._report is not None:
                self._report(name, error)
        if isinstance(found, AttentionStats):
            return found
        self.reasons[name] = found
        return None


def _known_to_jit(function: Callable[..., Any]) -> None:
    """Lets torch.jit.script compile code that names the look-alike, as it compiles the original (private table)."""
    try:
        from torch.jit import _builtins

        _builtins._register_builtin(function, "aten::scaled_dot_product_attention")
    except (ImportError, AttributeError):
        pass


def _stats(found: Scores, max_queries: int) -> AttentionStats | str:
    query, key, layout = found.query, found.key, found.layout
    stats = attention_stats(query, key, layout=layout, max_queries=max_queries, **found.options)
    if stats is None:
        return misfit(query, key, layout) or "its queries and keys have no values that can be read here"
    return dataclasses.replace(stats, definition=stats.definition + found.words) if found.words else stats


def _of_sdpa(call: Mapping[str, Any]) -> Scores | str:
    """The arguments of one scaled_dot_product_attention."""
    query, key, mask = call.get("query"), call.get("key"), call.get("attn_mask")
    causal, align = bool(call.get("is_causal", False)), "top_left"
    if mask is not None and type(mask).__name__ == "CausalBias":
        causal, align, mask = True, "bottom_right" if mask.variant.name == "LOWER_RIGHT" else "top_left", None
    query, key = plain(query), plain(key)
    if query is None or key is None:
        return "its queries and keys have no values that can be read here"
    if query.dim() == 2:
        query, key = query[None], key[None]
    elif query.dim() > 4 and mask is None:
        query, key = query.flatten(0, -4), key.flatten(0, -4)
    layout = "h,s,d" if query.dim() == 3 else "b,h,s,d"
    options = {"scale": call.get("scale"), "causal": causal, "align": align, "mask": mask}
    return Scores(query, key, layout, options)


def _of_arguments(
    call: tuple[tuple[Any, ...], Mapping[str, Any]], module: torch.nn.Module, layout: str
) -> Scores | str:
    """A module called with queries and keys, msprobe's CoreAttention."""
    args, kwargs = call
    query = args[0] if args else next((kwargs[n] for n in _QUERY_NAMES if n in kwargs), None)
    key = args[1] if len(args) > 1 else next((kwargs[n] for n in _KEY_NAMES if n in kwargs), None)
    if query is None or key is None:
        return "it neither calls scaled_dot_product_attention nor is called with queries and keys"
    options: dict[str, Any] = {"scale": _scale_of(module), "causal": _is_causal(module)}
    packing = kwargs.get("packed_seq_params") or kwargs
    lengths = _member(packing, "cu_seqlens_q")
    if lengths is None:
        lengths = _member(packing, "cu_seqlens")
    if isinstance(query, torch.Tensor) and query.dim() == 3 and lengths is not None:
        layout = "t,h,d"
        options |= {"cu_seqlens_q": lengths, "cu_seqlens_k": _member(packing, "cu_seqlens_k")}
        if _member(packing, "cu_seqlens_kv") is not None:
            options["cu_seqlens_k"] = _member(packing, "cu_seqlens_kv")
    return Scores(query, key, layout, options, "; from the module's arguments, masks not read")


def _member(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _scale_of(module: torch.nn.Module) -> float | None:
    for name in ("softmax_scale", "scaling", "scale"):
        value = getattr(module, name, None)
        if isinstance(value, float) and value > 0:
            return value
    return None


def _is_causal(module: torch.nn.Module) -> bool:
    for name in ("is_causal", "causal"):
        value = getattr(module, name, None)
        if isinstance(value, bool):
            return value
    kind = getattr(module, "attn_mask_type", None)
    return True if kind is None else "causal" in str(getattr(kind, "name", kind)).lower()


def _of_multihead(call: Mapping[str, Any], module: Any) -> Scores | str:
    """nn.MultiheadAttention that computes its weights itself. Masks: True = may not attend, or added."""
    query, key = plain(call.get("query")), plain(call.get("key"))
    if query is None or key is None:
        return "its queries and keys have no values that can be read here"
    with quiet(query.device):
        is_batched = query.dim() == 3
        if not is_batched:
            query, key = query[None], key[None]
        elif not module.batch_first:
            query, key = query.transpose(0, 1), key.transpose(0, 1)
        width, heads = module.embed_dim, module.num_heads
        bias = module.in_proj_bias
        if module._qkv_same_embed_dim:
            w_q, w_k = module.in_proj_weight[:width], module.in_proj_weight[width : 2 * width]
        else:
            w_q, w_k = module.q_proj_weight, module.k_proj_weight
        b_q, b_k = (None, None) if bias is None else (bias[:width], bias[width : 2 * width])
        q = torch.nn.functional.linear(query.to(w_q.dtype), w_q, b_q)
        k = torch.nn.functional.linear(key.to(w_k.dtype), w_k, b_k)
        mask = _multihead_mask(call, heads, is_batched)
        if module.bias_k is not None:
            k = torch.cat((k, module.bias_k.expand(k.shape[0], 1, width)), 1)
        if module.add_zero_attn:
            k = torch.cat((k, k.new_zeros(k.shape[0], 1, width)), 1)
        if mask is not None and k.shape[1] > mask.shape[-1]:
            mask = torch.nn.functional.pad(mask, (0, k.shape[1] - mask.shape[-1]))
        q, k = (t.unflatten(-1, (heads, width // heads)) for t in (q, k))
        return Scores(q, k, "b,s,h,d", {"causal": False, "mask": mask})


def _multihead_mask(call: Mapping[str, Any], heads: int, is_batched: bool) -> torch.Tensor | None:
    """Both masks as one that is added, [b, h, Sq, Sk] with ones where they do not differ; None without any."""
    total = None
    for name in ("key_padding_mask", "attn_mask"):
        mask = call.get(name)
        if mask is None:
            continue
        mask = mask.detach()
        if not mask.is_floating_point():
            mask = torch.zeros(mask.shape, device=mask.device).masked_fill(mask.bool(), -math.inf)
        if name == "key_padding_mask":
            mask = (mask if is_batched else mask[None])[:, None, None]
        elif mask.dim() == 3:
            mask = mask.unflatten(0, (-1, heads))
        else:
            mask = mask[None, None]
        total = mask if total is None else total + mask
    return total
