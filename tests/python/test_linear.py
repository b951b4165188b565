# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectral norms agree with the SVD, stable ranks follow."""

import math

import pytest
import torch
from telltale.pytorch import linear
from telltale.pytorch.linear import SpectralNorms, matrix_name
from torch import nn


def random(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def spectrum(*values, m=60, n=40):
    """A matrix with these largest singular values and small ones below."""
    u, _ = torch.linalg.qr(random(m, len(values), seed=1))
    v, _ = torch.linalg.qr(random(n, len(values), seed=2))
    return u @ torch.diag(torch.tensor(values)) @ v.t()


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (1, 9), (9, 1), (1, 1)])
@pytest.mark.parametrize("block", [1 << 18, 100, 1])
def test_sigma_is_the_largest_singular_value(monkeypatch, shape, block):
    monkeypatch.setattr(linear, "_BLOCK", block)
    w = random(*shape) + 0.5
    stats = SpectralNorms(200).measure("w", w)
    s = torch.linalg.svdvals(w.double())
    assert float(stats.kernel_norm) == pytest.approx(float(s[0]), rel=1e-6)
    assert float(stats.frobenius) == pytest.approx(float(s.norm()), rel=1e-6)
    assert float(stats.sr) == pytest.approx(float((s / s[0]).square().sum()), rel=1e-5)
    assert float(stats.sr_root) == pytest.approx(float(s.norm() / s[0]), rel=1e-5)
    assert float(stats.residual) < 1e-3 and stats.shape == shape


@pytest.mark.parametrize("shape", [(256, 256), (300, 40), (40, 300), (1000, 1000)])
def test_the_first_call_has_converged_at_a_usual_initialization(shape):
    w = nn.init.kaiming_uniform_(torch.empty(shape), 5**0.5, generator=torch.Generator().manual_seed(4))
    truth = float(torch.linalg.svdvals(w.double())[0])
    assert float(SpectralNorms().measure("w", w).kernel_norm) == pytest.approx(truth, rel=1e-4)


def test_a_gap_of_a_tenth_converges_on_a_device_too():
    stats = SpectralNorms(32).measure("w", spectrum(3.0, 2.7, 1.0))
    assert float(stats.kernel_norm) == pytest.approx(3, rel=1e-5)
    assert stats.rounds == 32


def test_a_warm_start_tightens_from_step_to_step_and_never_exceeds_the_truth():
    w = random(120, 120)
    truth = float(torch.linalg.svdvals(w)[0])
    norms = SpectralNorms(first_rounds=2, rounds=2)
    seen = [float(norms.measure("w", w).kernel_norm) for _ in range(60)]
    assert all(b >= a * (1 - 1e-6) for a, b in zip(seen, seen[1:])), "power iteration only grows"
    assert seen[0] < 0.97 * truth and seen[-1] == pytest.approx(truth, rel=3e-3) and seen[-1] <= truth * (1 + 1e-6)


def test_two_rounds_a_step_follow_a_weight_that_trains():
    norms = SpectralNorms()
    w = spectrum(3.0, 2.5, 1.0)
    for step in range(20):
        w = w + 0.01 * random(60, 40, seed=100 + step)
        stats = norms.measure("w", w)
        assert float(stats.kernel_norm) == pytest.approx(float(torch.linalg.svdvals(w)[0]), rel=1e-3)


def test_the_residual_bounds_the_distance_to_a_singular_value():
    w = random(50, 50)
    stats = SpectralNorms(first_rounds=3).measure("w", w)
    squares = torch.linalg.svdvals(w.double()).square()
    # rho lies between the last two estimates of sigma^2; the bound is for rho, so allow the half round beyond it
    distance = (squares - float(stats.kernel_norm) ** 2).abs().min()
    assert float(distance) <= 2 * float(stats.residual) * float(stats.kernel_norm) ** 2
    assert float(stats.residual) > 1e-3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_precisions_are_widened(dtype):
    w = random(30, 20).to(dtype)
    got, wanted = SpectralNorms().measure("w", w), SpectralNorms().measure("w", w.float())
    assert float(got.kernel_norm) == float(wanted.kernel_norm) and float(got.sr) == float(wanted.sr)


def test_views_equal_their_copies():
    w = random(64, 48)[::2, ::3]
    assert float(SpectralNorms().measure("w", w).sr) == pytest.approx(
        float(SpectralNorms().measure("w", w.contiguous()).sr), rel=1e-6
    )


def test_zeros_have_no_rank_and_broken_weights_no_number_nor_a_lasting_effect():
    norms = SpectralNorms()
    good, zeros = spectrum(3.0, 1.0), torch.zeros(60, 40)
    wanted = float(norms.measure("w", good).kernel_norm)
    stats = norms.measure("w", zeros)
    assert [float(v) for v in (stats.sr, stats.sr_root, stats.kernel_norm, stats.residual)] == [0, 0, 0, 0]
    broken = good.clone()
    broken[3, 4] = math.nan
    stats = norms.measure("w", broken)
    assert all(math.isnan(float(v)) for v in (stats.sr, stats.sr_root, stats.kernel_norm))
    assert float(norms.measure("w", good).kernel_norm) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    "weight",
    [
        torch.ones(5),
        torch.ones(2, 3, 4),
        torch.empty(0, 4),
        torch.ones(3, 3).long(),
        torch.ones(3, 3, device="meta"),
        None,
    ],
)
def test_what_is_no_matrix_here_gives_nothing(weight):
    assert SpectralNorms().measure("w", weight) is None


def test_a_weight_that_changed_its_shape_starts_anew():
    norms = SpectralNorms(32)
    norms.measure("w", random(8, 4))
    assert norms.measure("w", random(8, 6)).rounds == 32
    norms.forget("w")
    assert norms.measure("w", random(8, 6)).rounds == 32
    assert norms.measure("w", random(8, 6)).rounds == 2


def test_no_global_random_numbers_no_graph_and_no_change():
    w = nn.Parameter(random(30, 20))
    state, copy, version = torch.get_rng_state(), w.detach().clone(), w._version
    with torch.autocast("cpu", torch.bfloat16):
        stats = SpectralNorms().measure("w", w)
    assert torch.equal(torch.get_rng_state(), state) and torch.equal(w, copy) and w._version == version
    assert not stats.sr.requires_grad
    assert float(stats.kernel_norm) == float(SpectralNorms().measure("w", w).kernel_norm), "the start is the key's own"


def test_matrices_are_picked_as_msprobe_picks_them():
    class Router(nn.Module):
        def __init__(self):
            super().__init__()
            self.wg = nn.Parameter(torch.ones(4, 8))

    class Vocabulary(nn.Linear):
        vocab_start_index = 0

    assert matrix_name(nn.Linear(3, 4)) == "weight" and matrix_name(Router()) == "wg"
    for module in (nn.Embedding(4, 4), Vocabulary(3, 4), nn.LayerNorm(4), nn.Conv2d(1, 1, 3), nn.ReLU()):
        assert matrix_name(module) == ""
