# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries and keys are found in every kind of attention module, and the training never notices."""

import pickle
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F
from recordedgpt import GPT, CoreAttention, train
from telltale.pytorch import attentionwatch
from telltale.pytorch.attention import attention_stats
from telltale.pytorch.attentionwatch import AttentionWatch
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

BUILTIN = attentionwatch._original
watched_attention = attentionwatch.scaled_dot_product_attention


@pytest.fixture
def watch():
    made = AttentionWatch("b,s,h,d", max_queries=0, report=lambda name, error: pytest.fail(f"{name}: {error!r}"))
    made.install()
    yield made
    made.remove()
    assert F.scaled_dot_product_attention is BUILTIN


def hooked(watch, modules):
    """Registers the two hooks an engine would; returns name -> stats of each call."""
    found = {name: [] for name in modules}
    for name, module in modules.items():
        module.register_forward_pre_hook(lambda m, args, name=name: watch.enter(name, m))
        module.register_forward_hook(
            lambda m, args, kwargs, out, name=name: found[name].append(watch.leave(name, m, args, kwargs)) or None,
            with_kwargs=True,
        )
    return found


def test_a_call_is_credited_to_the_innermost_watched_module(watch):
    model = GPT(d=32, n=2, t=16)
    found = hooked(watch, {n: model.get_submodule(n) for n in ("blocks.0", "blocks.0.attn.core", "blocks.1")})
    core_inputs = []
    model.blocks[1].attn.core.register_forward_pre_hook(lambda m, args: core_inputs.append(args))
    model(torch.zeros(2, 16, dtype=torch.long))
    [inner] = found["blocks.0.attn.core"]
    [whole] = found["blocks.1"]
    assert len(inner) == len(whole) == 1 and found["blocks.0"] == [[]]
    assert "neither calls" in watch.reasons["blocks.0"] and "blocks.1" not in watch.reasons
    q, k, _ = core_inputs[0]
    wanted = attention_stats(q, k, layout="b,s,h,d", max_queries=0)
    assert torch.allclose(whole[0].entropy, wanted.entropy) and "top left" in whole[0].definition


class OwnAttention(nn.Module):
    """Multiplies by itself, with its own scale."""

    softmax_scale = 0.3
    attn_mask_type = "padding_causal"

    def forward(self, query, key, value=None):
        return (torch.einsum("bshd,bthd->bhst", query, key) * self.softmax_scale).softmax(-1)


@pytest.mark.parametrize("queries", [5, 3])
@pytest.mark.parametrize("bias", [causal_lower_right, causal_upper_left])
@pytest.mark.parametrize("compiled", [False, True])
def test_torchs_own_causal_masks_go_on_working(queries, bias, compiled):
    torch._dynamo.reset()
    q, k = torch.randn(1, 4, queries, 8), torch.randn(1, 4, 5, 8)

    def call(q, k):
        return F.scaled_dot_product_attention(q, k, k, attn_mask=bias(queries, 5))

    wanted = torch.compile(call, backend="eager")(q, k) if compiled else call(q, k)
    torch._dynamo.reset()
    watch = AttentionWatch(max_queries=0)
    watch.install()
    module = nn.Sequential()
    watch.enter("m", module)
    got = torch.compile(call, backend="eager")(q, k) if compiled else call(q, k)
    stats = watch.leave("m", module, (), {})
    assert F.scaled_dot_product_attention is watched_attention
    watch.remove()
    assert torch.equal(got, wanted)
    assert len(stats) == (0 if compiled else 1)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_module_called_with_queries_and_keys_is_read_by_msprobes_convention(watch, by_name):
    module = OwnAttention()
    found = hooked(watch, {"core": module})
    q, k = torch.randn(2, 7, 4, 8), torch.randn(2, 7, 2, 8).repeat_interleave(2, 2)
    module(query=q, key=k) if by_name else module(q, k)
    [[stats]] = found["core"]
    wanted = attention_stats(q, k, 0.3, True, "b,s,h,d", 0)
    assert torch.allclose(stats.entropy, wanted.entropy) and "from the module's arguments" in stats.definition
    module.is_causal = False
    module(q, k)
    assert torch.allclose(found["core"][1][0].entropy, attention_stats(q, k, 0.3, False, "b,s,h,d", 0).entropy)


MULTIHEAD = {
    "batch_first": ({"batch_first": True}, {}),
    "sequence first": ({}, {}),
    "separate widths": ({"kdim": 12, "vdim": 12}, {}),
    "no bias": ({"bias": False}, {}),
    "extra keys": ({"add_bias_kv": True, "add_zero_attn": True}, {}),
    "mask": ({}, {"attn_mask": torch.ones(5, 6).triu(1).bool()}),
    "float mask": ({}, {"attn_mask": torch.randn(5, 6, generator=torch.Generator().manual_seed(1))}),
    "mask per head": ({}, {"attn_mask": torch.ones(12, 5, 6).triu(1).bool()}),
    "padding": ({}, {"key_padding_mask": torch.arange(6) >= torch.tensor([6, 4, 2])[:, None]}),
    "both": (
        {"add_bias_kv": True},
        {
            "attn_mask": torch.ones(5, 6).triu(1).bool(),
            "key_padding_mask": torch.arange(6) >= torch.tensor([6, 4, 2])[:, None],
        },
    ),
}


@pytest.mark.parametrize("case", MULTIHEAD)
@pytest.mark.parametrize("need_weights", [True, False])
def test_multihead_attention_gives_its_own_weights(watch, case, need_weights):
    options, call = MULTIHEAD[case]
    torch.manual_seed(2)
    module = nn.MultiheadAttention(16, 4, **options)
    if case == "extra keys":
        nn.init.normal_(module.bias_k)
    q, k = torch.randn(5, 3, 16), torch.randn(6, 3, options.get("kdim", 16))
    if options.get("batch_first"):
        q, k = q.transpose(0, 1), k.transpose(0, 1)
    _, weights = module(q, k, k, average_attn_weights=False, **call)
    found = hooked(watch, {"mha": module})
    module(q, k, k, need_weights=need_weights, **call)
    [[stats]] = found["mha"]
    assert torch.allclose(stats.entropy, torch.special.entr(weights).sum(-1).mean((0, 2)), atol=1e-5)
    assert torch.allclose(stats.softmax_max, weights.amax(-1).mean((0, 2)), atol=1e-5)


def test_unbatched_multihead_attention_is_read_too(watch):
    module = nn.MultiheadAttention(16, 4)
    q = torch.randn(5, 16)
    _, weights = module(q, q, q, average_attn_weights=False)
    found = hooked(watch, {"mha": module})
    module(q, q, q)
    assert torch.allclose(found["mha"][0][0].entropy, torch.special.entr(weights).sum(-1).mean(1), atol=1e-5)


def test_shapes_of_direct_calls(watch):
    class Direct(nn.Module):
        def forward(self, q, k, **options):
            return F.scaled_dot_product_attention(q, k, k, **options)

    module = Direct()
    found = hooked(watch, {"m": module})
    q = torch.randn(2, 3, 4, 5, 8)
    module(q[0, 0, 0], q[0, 0, 0])
    module(q[0, 0], q[0, 0], scale=0.1)
    module(q, q, is_causal=True)
    module(q[0], q[0, :, :2].repeat(1, 1, 1, 1), enable_gqa=True)
    module(q[0, ..., :3, :], q[0], attn_mask=causal_lower_right(3, 5))
    heads = [stats[0].entropy.numel() for stats in found["m"]]
    assert heads == [1, 4, 4, 4, 4]
    wanted = attention_stats(q[0, ..., :3, :], q[0], causal=True, max_queries=0)
    assert torch.allclose(found["m"][4][0].entropy, wanted.entropy)
    assert torch.allclose(found["m"][1][0].entropy, attention_stats(q[0, 0], q[0, 0], 0.1, False, "h,s,d", 0).entropy)


def test_evaluation_and_recomputation_are_not_looked_at(watch):
    model = GPT(d=32, n=1, t=16)
    core = model.blocks[0].attn.core
    found = hooked(watch, {"core": core})
    model.eval()
    model(torch.zeros(1, 16, dtype=torch.long))
    model.train()
    x = torch.randn(2, 16, 32, requires_grad=True)
    for reentrant in (True, False):
        checkpoint(model.blocks[0], x, use_reentrant=reentrant).sum().backward()
    assert [len(stats) for stats in found["core"]] == [0, 1, 0, 1, 0]


def gradients_under_selective_checkpointing(watched):
    torch.manual_seed(5)
    model = GPT(d=32, n=1, t=16)
    watch = AttentionWatch("b,s,h,d")
    if watched:
        watch.install()
        found = hooked(watch, {"core": model.blocks[0].attn.core})

    def policy(context, op, *args, **kwargs):
        is_kept = op._schema.name.split("::")[1] in ("bmm", "mm", "addmm", "mul", "sum", "exp", "amax")
        return CheckpointPolicy.MUST_SAVE if is_kept else CheckpointPolicy.PREFER_RECOMPUTE

    def forward(x):
        q = model.blocks[0](x).unflatten(-1, (4, 8))
        scores = torch.bmm(q.flatten(0, 1), q.flatten(0, 1).transpose(1, 2))  # what our statistics call as well
        return scores.exp().sum() + q.sum()

    x = torch.randn(2, 16, 32, requires_grad=True)
    out = checkpoint(forward, x, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(policy))
    out.square().sum().backward()
    watch.remove()
    if watched:
        assert len(found["core"][0]) == 1
    return [x.grad] + [p.grad for p in model.blocks.parameters()]


def test_selective_checkpointing_does_not_see_our_operations():
    bare, watched = (gradients_under_selective_checkpointing(flag) for flag in (False, True))
    assert all(torch.equal(a, b) for a, b in zip(bare, watched))


def test_weights_and_random_state_stay_bitwise_the_same(watch):
    def run(watched):
        def prepare(model):
            for block in model.blocks:
                block.mlp.append(nn.Dropout(0.1))
            if watched:
                hooked(watch, {f"b{i}": block for i, block in enumerate(model.blocks)})

        return [*train(5, prepare).state_dict().values(), torch.get_rng_state()]

    assert all(torch.equal(a, b) for a, b in zip(run(False), run(True)))


def test_an_exception_in_a_forward_leaves_nothing_behind(watch):
    class Failing(nn.Module):
        def __init__(self):
            super().__init__()
            self.core = CoreAttention()

        def forward(self, q, fail=False):
            out = self.core(q, q, q)
            if fail:
                raise ValueError("user")
            return out

    module = Failing()
    found = hooked(watch, {"outer": module})
    q = torch.randn(1, 4, 2, 8)
    with pytest.raises(ValueError, match="user"):
        module(q, fail=True)
    module(q)
    assert len(found["outer"][0]) == 1
    with pytest.raises(ValueError, match="user"):
        module(q, fail=True)
    watch.reset()
    assert attentionwatch._frames.stack == []


def test_an_internal_error_is_reported_and_not_raised(monkeypatch):
    told = []
    watch = AttentionWatch("b,s,h,d", report=lambda name, error: told.append((name, str(error))))
    watch.install()
    monkeypatch.setattr(attentionwatch, "attention_stats", lambda *a, **k: 1 / 0)
    module = CoreAttention()
    found = hooked(watch, {"core": module})
    q = torch.randn(1, 4, 2, 8)
    out = module(q, q, q)
    watch.remove()
    assert torch.equal(out, module(q, q, q)) and found["core"][0] == []
    assert told and told[0][0] == "core" and "ZeroDivisionError" in watch.reasons["core"]


def test_threads_do_not_see_each_other(watch):
    module = CoreAttention()
    found = hooked(watch, {"core": module})
    q = torch.randn(1, 8, 2, 8)
    inside, done = threading.Event(), threading.Event()
    module.register_forward_pre_hook(lambda m, args: (inside.set(), done.wait(10)) and None)
    thread = threading.Thread(target=module, args=(q, q, q))
    thread.start()
    inside.wait(10)
    F.scaled_dot_product_attention(q, q, q)
    done.set()
    thread.join()
    assert len(found["core"]) == 1 and len(found["core"][0]) == 1


def test_the_look_alike_is_shared_restored_and_picklable():
    first, second = AttentionWatch(), AttentionWatch()
    first.install()
    first.install()
    second.install()
    assert F.scaled_dot_product_attention is watched_attention
    assert pickle.loads(pickle.dumps(F.scaled_dot_product_attention)) is watched_attention
    first.remove()
    assert F.scaled_dot_product_attention is watched_attention
    second.remove()
    second.remove()
    assert F.scaled_dot_product_attention is BUILTIN


def test_somebody_elses_patch_is_left_alone():
    watch = AttentionWatch()
    watch.install()
    theirs = F.scaled_dot_product_attention = lambda *a, **k: watched_attention(*a, **k)
    watch.remove()
    still = F.scaled_dot_product_attention
    F.scaled_dot_product_attention = BUILTIN
    assert still is theirs


def test_compiled_attention_stays_one_graph_with_the_same_result(watch):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    core = CoreAttention()
    q = torch.randn(1, 8, 2, 8)
    eager = core(q, q, q)
    found = hooked(watch, {"wrapper": nn.Sequential()})
    compiled = torch.compile(core, backend=backend, fullgraph=True)
    watch.enter("outer", nn.Sequential())
    assert torch.equal(compiled(q, q, q), eager) and torch.equal(compiled(q, q, q), eager)
    stats = watch.leave("outer", nn.Sequential(), (), {})
    assert len(graphs) == 1 and any("scaled_dot_product_attention" in target for target in graphs[0])
    assert stats == [] and "outer" in watch.reasons and found == {"wrapper": []}


def scripted(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def test_scripting_still_works_while_watching(watch):
    q = torch.randn(1, 2, 4, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert torch.equal(torch.jit.script(scripted)(q, q, q), scripted(q, q, q))
