# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention statistics equal the naive softmax in float64 and the C++ agent's sampling, for every layout and mask."""

import math

import numpy as np
import pytest
import torch
from telltale.pytorch import attention
from telltale.pytorch.attention import attention_stats, misfit, msprobe_head0


def random(*shape, seed=3, scale=1.0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * scale


def naive(query, key, scale, allowed=None, bias=None):
    """Per row, [b, h, q]: entropy and maximum of the softmax, NaN for rows that see nothing; float64."""
    p = logits(query, key, scale, allowed, bias).softmax(-1)
    return torch.special.entr(p).sum(-1), p.amax(-1)


def logits(query, key, scale, allowed=None, bias=None):
    """[b, h, q, k], -inf where a key may not be seen; float64."""
    q = query.double()
    k = key.double().repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = q @ k.transpose(2, 3) * scale
    if bias is not None:
        scores = scores + bias.double()
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores


def triangle(queries, keys, shift):
    return torch.arange(keys) <= torch.arange(queries)[:, None] + shift


def close(got, wanted, tolerance=1e-5):
    assert got.shape == wanted.shape
    assert torch.allclose(got.double(), wanted.double(), rtol=0, atol=tolerance, equal_nan=True), (got, wanted)


@pytest.mark.parametrize("key_heads", [4, 2, 1])
@pytest.mark.parametrize(("queries", "keys", "causal"), [(17, 17, True), (17, 17, False), (5, 23, True), (1, 9, True)])
def test_every_head_and_sequence_equals_the_naive_softmax(queries, keys, causal, key_heads):
    q, k = random(3, 4, queries, 20, scale=3), random(3, key_heads, keys, 20, seed=4)
    stats = attention_stats(q, k, 0.22, causal, max_queries=0)
    allowed = triangle(queries, keys, keys - queries) if causal else None
    entropy, top = naive(q, k, 0.22, allowed)
    close(stats.entropy, entropy.mean((0, 2)))
    close(stats.softmax_max, top.mean((0, 2)))
    close(stats.max_logit, logits(q, k, 0.22, allowed).amax((0, 2, 3)))
    assert not stats.sampled and stats.queries == queries and stats.skipped.tolist() == [0] * 4


@pytest.mark.parametrize("layout", ["b,h,s,d", "b,s,h,d", "s,b,h,d", "s, b, h, d"])
def test_layouts_are_read_as_named(layout):
    q, k = random(2, 4, 11, 8), random(2, 2, 11, 8, seed=5)
    order = layout.replace(" ", "").split(",")
    moved = [t.permute([("b", "h", "s", "d").index(axis) for axis in order]).contiguous() for t in (q, k)]
    stats, wanted = attention_stats(*moved, layout=layout), attention_stats(q, k)
    close(stats.entropy, wanted.entropy, 1e-6)
    close(stats.softmax_max, wanted.softmax_max, 1e-6)
    assert stats.shape == wanted.shape == (4, 2, 11, 11)
    entropy, _ = naive(q, k, 8**-0.5, triangle(11, 11, 0))
    close(stats.entropy, entropy.mean((0, 2)))


def cpp_agent(query, key, scale, causal, max_queries):
    """The C++ agent's loop (attentionstats.cpp) in float64: first sequence, row r of R at (r+1)*S/R-1."""
    q, k = query[0].double().numpy(), key[0].double().numpy()
    heads, length, _ = q.shape
    rows = min(length, max_queries)
    out = np.full((heads, 3), [0, 0, -math.inf])
    for h in range(heads):
        for r in range(rows):
            position = (r + 1) * length // rows - 1
            seen = position + k.shape[1] - length + 1 if causal else k.shape[1]
            scores = scale * (k[h // (heads // k.shape[0]), :seen] @ q[h, position])
            weights = np.exp(scores - scores.max())
            total = weights.sum()
            out[h, :2] += math.log(total) - (weights * (scores - scores.max())).sum() / total, 1 / total
            out[h, 2] = max(out[h, 2], scores.max())
    out[:, :2] /= rows
    return torch.from_numpy(out)


@pytest.mark.parametrize(("length", "keys", "rows"), [(64, 64, 8), (50, 61, 7), (64, 64, 1000), (3, 3, 1)])
@pytest.mark.parametrize("causal", [True, False])
def test_sampled_rows_are_those_of_the_cpp_agent(length, keys, rows, causal):
    q, k = random(2, 6, length, 8, scale=2), random(2, 3, keys, 8, seed=9)
    stats = attention_stats(q, k, 0.5, causal, max_queries=rows, first_sequence_only=True)
    wanted = cpp_agent(q, k, 0.5, causal, rows)
    close(stats.entropy, wanted[:, 0])
    close(stats.softmax_max, wanted[:, 1])
    close(stats.max_logit, wanted[:, 2])
    assert stats.sampled, "the second sequence was not looked at"
    assert stats.queries == min(length, rows)
    both = [cpp_agent(q[i:], k[i:], 0.5, causal, rows) for i in (0, 1)]
    close(attention_stats(q, k, 0.5, causal, max_queries=rows).entropy, (both[0] + both[1])[:, 0] / 2)


def sdpa_probabilities(q, k, **options):
    """What torch's own attention weighs the keys with: values = identity."""
    values = torch.eye(k.shape[2]).expand(*k.shape[:3], k.shape[2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, values, **options).double()


@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (4, 9), (9, 4)])
def test_top_left_alignment_is_torchs_own(queries, keys):
    q, k = random(2, 3, queries, 16), random(2, 3, keys, 16, seed=8)
    p = sdpa_probabilities(q, k, is_causal=True)
    stats = attention_stats(q, k, causal=True, align="top_left")
    close(stats.softmax_max, p.amax(-1).mean((0, 2)))
    close(stats.entropy, torch.special.entr(p).sum(-1).mean((0, 2)))


@pytest.mark.parametrize("kind", ["bool", "additive", "lowest", "per_head", "flat"])
def test_masks_act_as_in_torchs_own_attention(kind):
    q, k = random(2, 4, 10, 16), random(2, 4, 12, 16, seed=8)
    allowed = random(2, 1, 10, 12, seed=1) > -0.5
    allowed[..., 0] = True
    mask = {
        "bool": allowed,
        "additive": torch.where(allowed, random(2, 1, 10, 12, seed=2), -math.inf),
        "lowest": torch.where(allowed, 0.0, torch.finfo(torch.float32).min),
        "per_head": random(1, 4, 10, 12, seed=2) > -1,
        "flat": allowed[0, 0],
    }[kind]
    p = sdpa_probabilities(q, k, attn_mask=mask)
    stats = attention_stats(q, k, causal=False, mask=mask)
    close(stats.entropy, torch.special.entr(p).sum(-1).mean((0, 2)))
    close(stats.softmax_max, p.amax(-1).mean((0, 2)))
    sampled = attention_stats(q, k, causal=False, mask=mask, max_queries=3)
    close(sampled.softmax_max, p[:, :, [2, 5, 9]].amax(-1).mean((0, 2)))


@pytest.mark.parametrize("filler", [False, -math.inf, torch.finfo(torch.bfloat16).min])
def test_rows_that_see_nothing_are_left_out_and_counted(filler):
    q, k = random(2, 2, 6, 8), random(2, 2, 6, 8, seed=8)
    mask = torch.ones(2, 1, 6, 6, dtype=torch.bool)
    mask[1, 0, 4:] = False
    written = mask if filler is False else torch.where(mask, 0.0, filler).bfloat16()
    stats = attention_stats(q, k, causal=False, mask=written)
    entropy, _ = naive(q, k, 8**-0.5)
    close(stats.entropy, (entropy[0].sum(1) + entropy[1, :, :4].sum(1)) / 10)
    assert stats.skipped.tolist() == [2, 2]
    nothing = attention_stats(q, k, causal=False, mask=torch.zeros(6, 6, dtype=torch.bool))
    assert nothing.entropy.isnan().all() and nothing.skipped.tolist() == [12, 12]
    longer = attention_stats(q, k[:, :, :4], causal=True)
    assert longer.skipped.tolist() == [4, 4] and longer.entropy.isfinite().all()


def test_packed_sequences_do_not_see_each_other():
    lengths = [5, 1, 7]
    parts = [(random(1, 4, n, 8, seed=n), random(1, 2, n + 2, 8, seed=90 + n)) for n in lengths]
    q = torch.cat([p[0][0].transpose(0, 1) for p in parts])
    k = torch.cat([p[1][0].transpose(0, 1) for p in parts])
    for align in ("bottom_right", "top_left"):
        stats = attention_stats(
            q, k, layout="t,h,d", cu_seqlens_q=[0, 5, 6, 13], cu_seqlens_k=[0, 7, 8 + 2, 19], max_queries=0, align=align
        )
        shift = 2 if align == "bottom_right" else 0
        rows = [naive(a, b, 8**-0.5, triangle(n, n + 2, shift)) for (a, b), n in zip(parts, lengths)]
        close(stats.entropy, torch.cat([entropy for entropy, _ in rows], 2).mean((0, 2)))
        close(stats.softmax_max, torch.cat([top for _, top in rows], 2).mean((0, 2)))
        assert stats.shape == (4, 2, 13, 0)
    whole = attention_stats(q, q, layout="t,h,d")
    close(whole.entropy, attention_stats(q.transpose(0, 1), q.transpose(0, 1), layout="h,s,d").entropy)


@pytest.mark.parametrize("scratch", [1, 64, 1000, 5000])
def test_pieces_of_any_size_give_the_same_values(monkeypatch, scratch):
    q, k = random(3, 6, 19, 8), random(3, 2, 23, 8, seed=8)
    mask = random(3, 6, 19, 23, seed=5) > 0
    wanted = attention_stats(q, k, mask=mask, max_queries=0)
    monkeypatch.setattr(attention, "SCRATCH", scratch)
    got = attention_stats(q, k, mask=mask, max_queries=0)
    close(got.entropy, wanted.entropy, 1e-6)
    close(got.max_logit, wanted.max_logit, 1e-6)
    assert torch.equal(got.skipped, wanted.skipped)


def test_nan_and_infinite_scores_stay_in_their_head():
    q, k = random(2, 4, 9, 16), random(2, 4, 9, 16, seed=8)
    q[1, 3, 0, 0] = math.nan
    q[0, 1, 8] = torch.finfo(torch.float32).max
    stats = attention_stats(q, k, causal=True)
    assert stats.entropy.isnan().tolist() == [False, True, False, True]
    assert stats.softmax_max.isnan().tolist() == [False, True, False, True]
    assert not stats.max_logit[1].isfinite() and stats.max_logit.isnan()[[0, 2, 3]].tolist() == [False, False, True]
    k[0, 0, 8] = math.nan  # only the last row sees it
    hidden = attention_stats(q[:, :, :8], k[:, :, :8], causal=True)
    assert not hidden.entropy[0].isnan()
    assert attention_stats(q, k, causal=True).entropy[0].isnan()


def test_the_largest_logit_is_of_keys_that_may_be_seen_with_the_mask_added():
    q, k = random(2, 2, 6, 8), random(2, 2, 6, 8, seed=8)
    k[:, :, 5] *= 1000  # the last query alone sees it
    bias = random(2, 2, 6, 6, seed=5) * 10
    bias[:, :, 5, 5], bias[0, 1, 3, 0] = -math.inf, math.inf
    seen = triangle(6, 6, 0) & (bias != -math.inf)
    stats = attention_stats(q, k, causal=True, mask=bias, max_queries=0)
    wanted = logits(q, k, 8**-0.5, seen, bias).amax((0, 2, 3))
    assert torch.allclose(stats.max_logit.double(), wanted) and wanted[1] == math.inf and wanted[0] < 100
    low = attention_stats(q, -q * 100, causal=False, mask=torch.eye(6, dtype=torch.bool), max_queries=0)
    assert (low.max_logit < 0).all(), "no floor at zero, nor at what is hidden"
    blind = attention_stats(q, k, causal=False, mask=torch.zeros(6, 6, dtype=torch.bool))
    assert blind.max_logit.isnan().all() and blind.skipped.tolist() == [12, 12]


def test_low_precision_is_widened_before_it_is_summed():
    q, k = random(1, 2, 40, 32).bfloat16(), random(1, 2, 40, 32, seed=8).bfloat16()
    assert torch.equal(attention_stats(q, k).entropy, attention_stats(q.float(), k.float()).entropy)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(attention_stats(q, k).entropy, attention_stats(q.float(), k.float()).entropy)


def test_nothing_of_the_training_is_touched():
    q, k = random(2, 4, 9, 16).requires_grad_(), random(2, 4, 9, 16, seed=8).requires_grad_()
    before, versions = (q.clone(), k.clone()), (q._version, k._version)
    state = torch.get_rng_state()
    stats = attention_stats(q, k, mask=torch.ones(9, 9, dtype=torch.bool))
    assert not stats.entropy.requires_grad and torch.is_grad_enabled()
    assert torch.equal(q, before[0]) and torch.equal(k, before[1]) and (q._version, k._version) == versions
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("query", "key", "layout", "word"),
    [
        (torch.ones(2, 3, 4), torch.ones(2, 3, 4), "b,h,s,d", "dimensions"),
        (torch.ones(1, 3, 4, 8), torch.ones(1, 2, 4, 8), "b,h,s,d", "evenly"),
        (torch.ones(1, 3, 4, 8), torch.ones(1, 3, 4, 9), "b,h,s,d", "width"),
        (torch.ones(2, 3, 4, 8), torch.ones(1, 3, 4, 8), "b,h,s,d", "sequences"),
        (torch.ones(1, 3, 0, 8), torch.ones(1, 3, 4, 8), "b,h,s,d", "no queries"),
        (torch.ones(1, 3, 4, 8), None, "b,h,s,d", "floating"),
        (torch.ones(1, 3, 4, 8).long(), torch.ones(1, 3, 4, 8), "b,h,s,d", "floating"),
        (torch.ones(1, 3, 4, 8), torch.ones(1, 3, 4, 8), "d,h,s,b", "layout"),
    ],
)
def test_what_does_not_fit_is_said_and_not_raised(query, key, layout, word):
    assert word in misfit(query, key, layout)
    assert attention_stats(query, key, layout=layout) is None


def test_tensors_without_values_give_nothing():
    fake = torch.ones(1, 3, 4, 8, device="meta")
    assert attention_stats(fake, fake) is None and msprobe_head0(fake, fake) is None


def recorded_definition(q, k):
    """msprobe's attention_hook written out: [s, s] scores of head 0 in the tensors' dtype, then float32."""
    scores = q @ k.t() / q.shape[-1] ** 0.5
    scores = (scores - scores.amax(1, keepdim=True)).masked_fill(~triangle(*scores.shape, 0), -math.inf)
    p = scores.float().softmax(1)
    return torch.special.entr(p).sum(1).mean(), p.amax(1).mean()


@pytest.mark.parametrize("layout", ["s,b,h,d", "b,s,h,d"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scratch", [1 << 20, 30])
def test_head0_is_what_msprobe_writes(monkeypatch, layout, dtype, scratch):
    monkeypatch.setattr(attention, "SCRATCH", scratch)
    q, k = random(12, 12, 3, 16, scale=2).to(dtype), random(12, 12, 3, 16, seed=8).to(dtype)
    pick = (slice(None), 0, 0) if layout == "s,b,h,d" else (0, slice(None), 0)
    got = msprobe_head0(q, k, layout)
    close(torch.stack(got), torch.stack(recorded_definition(q[pick], k[pick])), 1e-6)
    assert msprobe_head0(q, k[:5], "s,b,h,d") is None and msprobe_head0(q[0], k[0]) is None
