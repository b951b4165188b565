# SPDX-License-Identifier: GPL-3.0-or-later
"""Router statistics equal their definitions written out, and say NaN where the router is broken."""

import math

import pytest
import torch
from telltale.pytorch import router
from telltale.pytorch.router import per_token_expert_entropy, router_logits, router_weight_similarity
from torch import nn


def random(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def mean_cosine(vectors):
    pairs = [(i, j) for i in range(len(vectors)) for j in range(i)]
    return sum(float(torch.cosine_similarity(vectors[i], vectors[j], 0)) for i, j in pairs) / len(pairs)


@pytest.mark.parametrize(("experts", "hidden"), [(8, 32), (2, 3), (64, 65)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_similarity_is_the_mean_cosine_over_pairs_of_experts(experts, hidden, dtype):
    w = (random(experts, hidden) + 0.3).to(dtype)
    wanted = mean_cosine(w.double())
    assert float(router_weight_similarity(w)) == pytest.approx(wanted, abs=1e-6)
    assert float(router_weight_similarity(w.t())) == pytest.approx(wanted, abs=1e-6)


def test_similarity_takes_the_smaller_dimension_for_experts_unless_told():
    w = random(12, 5)
    assert float(router_weight_similarity(w)) == pytest.approx(mean_cosine(w.t()), abs=1e-6)
    assert float(router_weight_similarity(w, experts=12)) == pytest.approx(mean_cosine(w), abs=1e-6)
    square = random(6, 6)
    assert float(router_weight_similarity(square)) == pytest.approx(mean_cosine(square.t()), abs=1e-6)


def test_experts_that_route_alike_have_similarity_one_and_zero_vectors_none():
    row = random(1, 16)
    assert float(router_weight_similarity(row.repeat(4, 1))) == pytest.approx(1, abs=1e-6)
    assert float(router_weight_similarity(torch.cat((row, -row)))) == pytest.approx(-1, abs=1e-6)
    assert float(router_weight_similarity(torch.zeros(4, 16))) == 0
    assert float(router_weight_similarity(row)) == 0
    broken = random(4, 16)
    broken[1, 2] = math.nan
    assert math.isnan(float(router_weight_similarity(broken)))


@pytest.mark.parametrize("shape", [(7, 4), (3, 5, 8), (2, 3, 4, 2)])
@pytest.mark.parametrize("block", [1 << 20, 9])
def test_entropy_is_the_mean_over_tokens(monkeypatch, shape, block):
    monkeypatch.setattr(router, "_BLOCK", block)
    logits = random(*shape) * 3
    p = logits.double().softmax(-1)
    wanted = float(-(p * p.log()).sum(-1).mean())
    assert float(per_token_expert_entropy(logits)) == pytest.approx(wanted, abs=1e-6)
    assert float(per_token_expert_entropy(torch.zeros(shape))) == pytest.approx(math.log(shape[-1]), abs=1e-6)


def test_masked_experts_count_nothing_and_broken_ones_show():
    logits = random(4, 6)
    logits[0, 3:] = -math.inf
    p = logits.double().softmax(-1)
    wanted = float(torch.special.entr(p).sum(-1).mean())
    assert float(per_token_expert_entropy(logits)) == pytest.approx(wanted, abs=1e-6)
    logits[1] = -math.inf
    without = float(torch.special.entr(p[[0, 2, 3]]).sum()) / 4
    assert float(per_token_expert_entropy(logits)) == pytest.approx(without, abs=1e-6)
    for bad in (math.nan, math.inf):
        logits[2, 2] = bad
        assert math.isnan(float(per_token_expert_entropy(logits)))


def test_logits_are_the_first_tensor_of_the_output():
    x = random(3, 4)
    assert router_logits(x) is x and router_logits((None, x, x + 1)) is x and router_logits([x]) is x
    assert router_logits((torch.ones(4), x)) is None and router_logits({"a": x}) is None and router_logits(()) is None


@pytest.mark.parametrize(
    "value", [None, torch.ones(4), torch.empty(0, 4), torch.ones(3, 4).long(), torch.ones(2, 4, device="meta")]
)
def test_what_cannot_be_read_gives_nothing(value):
    assert router_weight_similarity(value) is None and per_token_expert_entropy(value) is None


def test_nothing_of_the_training_is_touched():
    w, logits = nn.Parameter(random(8, 32)), random(5, 8).requires_grad_()
    state, versions = torch.get_rng_state(), (w._version, logits._version)
    with torch.autocast("cpu", torch.bfloat16):
        similarity, entropy = router_weight_similarity(w), per_token_expert_entropy(logits)
    assert not similarity.requires_grad and not entropy.requires_grad
    assert float(similarity) == float(router_weight_similarity(w)), "autocast does not reach into it"
    assert torch.equal(torch.get_rng_state(), state) and (w._version, logits._version) == versions
