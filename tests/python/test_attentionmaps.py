# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention maps: every cell is what softmax(QK^T) says, the heads and steps are those asked for, and the training is
the same to the bit."""

import itertools
import json
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from recordedgpt import GPT
from recording import RecordingSink
from serving import Server
from telltale import configfile
from telltale.native import ConfigWords
from telltale.pytorch import TrainerMon, attention, attentionmaps
from telltale.pytorch.attentionmaps import attention_maps
from torch import nn


class MapSink(RecordingSink):
    """Takes what is for the dashboard."""

    @property
    def takes_kept(self):
        return True

    def maps(self):
        """(step, module) -> head of the document, cells."""
        return {(step, name): unpacked(data) for kind, name, step, data in self.blobs if kind == "attention_map"}


def unpacked(data):
    line, _, cells = data.partition(b"\n")
    head = json.loads(line)
    shape = len(head["heads"]), head["rows"], head["columns"]
    return head, np.frombuffer(cells, np.float16).reshape(shape).astype(np.float64)


def brute(q, k, scale=None, causal=True, align="bottom_right", mask=None, size=64):
    """Of q [h, Sq, d] and k [kh, Sk, d], by materializing everything in float64: [h, rows, columns]."""
    q, k = q.detach().double(), k.detach().double()
    k = k.repeat_interleave(q.shape[0] // k.shape[0], 0)
    scores = q @ k.transpose(1, 2) * (1 / math.sqrt(q.shape[2]) if scale is None else scale)
    queries, keys = scores.shape[1:]
    may = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        may = may.tril(keys - queries if align == "bottom_right" else 0)
    may = may.expand_as(scores).clone()
    if mask is not None and mask.dtype is torch.bool:
        may &= mask
    elif mask is not None:
        may &= mask > -1e30
        scores = scores + mask.double().clamp(min=-1e30)
    p = scores.masked_fill(~may, -math.inf).softmax(-1)
    p = torch.where(may.any(-1, keepdim=True), p, 0.0)
    high, wide = -(-queries // size), -(-keys // size)
    out = torch.full((q.shape[0], -(-queries // high), -(-keys // wide)), -1.0, dtype=torch.float64)
    for h in range(out.shape[0]):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                rows, columns = slice(r * high, (r + 1) * high), slice(c * wide, (c + 1) * wide)
                if may[h, rows, columns].any():
                    block = p[h, rows, columns].sum(1)
                    out[h, r, c] = block[may[h, rows].any(1)].mean()
    return out


def close(maps, wanted):
    found = maps.cells.double()
    assert found.shape == wanted.shape
    assert torch.equal(found == -1, wanted == -1)  # what may not be attended to, to the cell
    # float16 has 11 bits, and steps of 6e-8 near zero.
    assert torch.allclose(found, wanted, rtol=6e-4, atol=2e-7, equal_nan=True)


SHAPES = [(4, 4, 64, 64), (4, 2, 100, 100), (6, 1, 7, 7), (2, 2, 130, 130), (4, 2, 5, 90), (3, 3, 90, 5), (1, 1, 1, 1)]


@pytest.mark.parametrize("scratch", [1 << 20, 300])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("heads", "key_heads", "queries", "keys"), SHAPES)
def test_every_cell_is_what_the_whole_matrix_says(heads, key_heads, queries, keys, causal, scratch, monkeypatch):
    monkeypatch.setattr(attention, "SCRATCH", scratch)
    monkeypatch.setattr(attentionmaps, "SCRATCH", scratch)
    torch.manual_seed(0)
    q, k = 3 * torch.randn(2, heads, queries, 16), torch.randn(2, key_heads, keys, 16)
    for align in ("bottom_right", "top_left"):
        maps = attention_maps(q, k, range(heads), causal=causal, align=align)
        close(maps, brute(q[0], k[0], causal=causal, align=align))
        assert maps.shape == (heads, key_heads, queries, keys) and maps.looked == queries


@pytest.mark.parametrize("layout", ["b,s,h,d", "s,b,h,d"])
def test_layouts_and_dtypes(layout):
    torch.manual_seed(1)
    q, k = torch.randn(2, 4, 33, 8, dtype=torch.bfloat16), torch.randn(2, 2, 33, 8, dtype=torch.bfloat16)
    order = (0, 2, 1, 3) if layout == "b,s,h,d" else (2, 0, 1, 3)
    maps = attention_maps(q.permute(order), k.permute(order), [3, 1], size=16, scale=0.3, layout=layout)
    assert maps.heads == [3, 1] and maps.queries_per_row == 3
    close(maps, brute(q[0], k[0], scale=0.3, size=16)[[3, 1]])


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("dims", [2, 4])
def test_masks(added, dims):
    torch.manual_seed(2)
    q, k = torch.randn(2, 3, 40, 8), torch.randn(2, 3, 50, 8)
    may = torch.rand(*((2, 3) if dims == 4 else ()), 40, 50) > 0.4
    may[..., 7, :] = False  # a query that may attend to nothing
    may[..., 20:30, 30:] = False
    mask = torch.zeros(may.shape).masked_fill(~may, -math.inf) + torch.randn(may.shape) if added else may
    maps = attention_maps(q, k, range(3), size=8, causal=False, mask=mask)
    close(maps, brute(q[0], k[0], causal=False, mask=mask[0] if dims == 4 else mask, size=8))


def test_packed_sequences_see_themselves_alone():
    torch.manual_seed(3)
    lengths = [0, 10, 42, 64]
    q, k = torch.randn(64, 2, 8), torch.randn(64, 1, 8)
    inside = torch.zeros(64, 64, dtype=torch.bool)
    for a, b in itertools.pairwise(lengths):
        inside[a:b, a:b] = True
    maps = attention_maps(q, k, [0, 1], layout="t,h,d", cu_seqlens_q=torch.tensor(lengths, dtype=torch.int32))
    close(maps, brute(q.transpose(0, 1), k.transpose(0, 1), mask=inside))


def test_what_is_not_finite_is_seen():
    q, k = torch.randn(1, 2, 96, 8), torch.randn(1, 2, 96, 8)
    q[0, 1, 50, 3] = math.nan
    k[0, 0, 90, 0] = math.inf
    [first, second] = attention_maps(q, k, [0, 1], size=32).cells.double()
    assert second[16, :17].isnan().all() and (second[16, 17:] == -1).all()
    assert not second[:16].isnan().any() and not second[17:].isnan().any()
    assert first[30:].isnan().any() and not first[:30].isnan().any()


def test_of_very_long_sequences_every_nth_query_is_looked_at(monkeypatch):
    monkeypatch.setattr(attentionmaps, "_MOST_SCORES", 256 * 64)
    torch.manual_seed(4)
    q, k = torch.randn(1, 1, 256, 8), torch.randn(1, 1, 256, 8)
    maps = attention_maps(q, k, [0], size=32)
    assert maps.looked == 64 and maps.queries_per_row == 8 and "every 4th query" in maps.definition
    scores = q[0, 0].double() @ k[0, 0].double().T / math.sqrt(8)
    rows = scores.masked_fill(~torch.ones(256, 256).tril().bool(), -math.inf).softmax(-1)[3::4]
    wanted = rows.view(32, 2, 32, 8).sum(-1).mean(1)
    seen = maps.cells[0].double()
    assert torch.allclose(torch.where(seen == -1, 0.0, seen), wanted, rtol=6e-4, atol=2e-7)


def test_a_head_that_is_not_there_has_no_map():
    q = torch.randn(1, 2, 8, 4)
    assert attention_maps(q, q, [0, 5]).heads == [0]
    assert attention_maps(q, q, [5]) is None
    assert attention_maps(q, q[..., :3], [0]) is None


def watched(config, steps=6, acc=1, join=None, start=0, between=None, sink=None):
    """A training with what its forwards were given; the sink, step -> module -> (q, k). between: is called with the
    monitor and the number of each step before it."""
    sink, seen, now = sink or MapSink(), {}, [0]
    torch.manual_seed(0)
    model = GPT(d=32, n=2, t=80)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    monitor = TrainerMon(config, sinks=[sink]) if join is None else TrainerMon(config, agent={"join": join})
    monitor.set_monitor(model, grad_acc_steps=acc, optimizer=optimizer, start_iteration=start)
    for name, module in model.named_modules():
        if name.endswith("core"):
            module.register_forward_pre_hook(
                lambda m, args, name=name: (
                    seen.setdefault((now[0], name), [t.detach().clone() for t in args[:2]]) and None
                )
            )
    for number in range(start, start + steps):
        now[0] = number
        if between is not None:
            between(monitor, number)
        for _ in range(acc):
            x = torch.randint(0, 256, (2, 80), generator=torch.Generator().manual_seed(number))
            F.cross_entropy(model(x).flatten(0, 1), x.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert join is None or monitor.flush(20)
    monitor.close()
    return sink, seen


def test_the_maps_of_a_training_are_those_of_its_queries_and_keys():
    maps = {"blocks.0": [1, 3], "blocks.1.attn.core": []}
    config = {"telltale": {"attention_maps": maps, "attention_maps_interval": 2, "attention_maps_size": 40}}
    sink, seen = watched(config, acc=2)
    maps = sink.maps()
    assert set(maps) == {(step, f"blocks.{n}.attn.core") for step in (0, 2, 4) for n in (0, 1)}
    for (step, name), (head, cells) in maps.items():
        assert head["heads"] == ([1, 3] if name.startswith("blocks.0") else [0, 1, 2, 3])
        assert head["shape"] == [4, 4, 80, 80] and head["queries_per_row"] == head["keys_per_column"] == 2
        q, k = (t[0].transpose(0, 1) for t in seen[step, name])  # [b, s, h, d]
        wanted = brute(q, k, size=40)[head["heads"]].numpy()
        assert np.allclose(cells, wanted, rtol=6e-4, atol=2e-7)


def test_what_a_server_stores_is_shown_by_the_command_line(tmp_path):
    server = Server(tmp_path / "data")
    config = {"telltale": {"attention_maps": {"blocks.*": [0, 2]}, "attention_maps_interval": 2}}
    _, seen = watched(config, steps=5, join=server.join)
    shown = server._ask("show", "--maps", "*")["attention_maps"]
    some = server._ask("show", "--maps", "blocks.1.attn.core", "--steps", "2:3")["attention_maps"]
    assert server.stop() == 0
    assert [(one["step"], one["name"]) for one in shown] == [
        (step, f"blocks.{n}.attn.core") for step in (0, 2, 4) for n in (0, 1)
    ]
    assert [(one["step"], one["name"]) for one in some] == [(2, "blocks.1.attn.core")]
    for one in shown:
        q, k = (t[0].transpose(0, 1) for t in seen[one["step"], one["name"]])
        wanted = brute(q, k).numpy()
        for each in one["maps"]:
            cells = np.array([[-1 if cell is None else cell for cell in row] for row in each["cells"]])
            assert np.allclose(cells, wanted[each["head"]], rtol=6e-4, atol=2e-7)


def test_maps_follow_the_steps_that_are_collected():
    config = {"start_step": 1, "step_interval": 3,
              "telltale": {"attention_maps": {"blocks.0": [0]}, "attention_maps_interval": 2}}  # fmt: skip
    sink, _ = watched(config, steps=12)
    assert sorted({step for step, _ in sink.maps()}) == [1, 4, 7, 10]  # each the first collected of an interval
    config["telltale"]["attention_maps_interval"] = 6
    sink, _ = watched(config, steps=12)
    assert sorted({step for step, _ in sink.maps()}) == [1, 7]


def mapped_at(listed, **more):
    return {"telltale": {"attention_maps": {"blocks.0": [0]}, "attention_maps_steps": listed}, **more}


def steps_of(sink):
    return sorted({step for step, _ in sink.maps()})


@pytest.mark.parametrize(
    ("listed", "more", "sent"),
    [
        ([7, 1, 4, 4, 100], {}, [1, 4, 7]),
        ([0], {}, [0]),
        ([], {}, [0]),  # at the interval
        ([0, 1, 6, 8, 9], {"start_step": 3, "step_interval": 2}, [3, 7, 9]),  # at the next that is collected
        ([1, 5, 9], {"collect_times": 6}, [1, 5]),
    ],
)
def test_maps_are_sent_at_the_steps_that_are_listed(listed, more, sent):
    sink, _ = watched(mapped_at(listed, **more), steps=12)
    assert steps_of(sink) == sent


def test_a_step_that_passed_before_the_watch_began_is_not_made_up_for():
    sink, _ = watched(mapped_at([3, 10, 12]), steps=5, start=10)
    assert steps_of(sink) == [10, 12]
    sink, _ = watched(mapped_at([3, 12]), steps=5, start=10)
    assert steps_of(sink) == [12]


class Steered(MapSink):
    """Offers configs: step -> text."""

    takes_configs = True

    def __init__(self, offers):
        super().__init__()
        self.offers = offers

    def config_words(self):
        words = ConfigWords()
        words.is_offered.value = 1
        return words

    def config_due(self, step):
        return (step, self.offers[step]) if step in self.offers else None


def test_a_step_of_a_stop_is_made_up_for_when_it_ends():
    config = mapped_at([1, 4, 5, 9])
    offers = {
        step: json.dumps(configfile.load({**config, "dynamic_on": is_on}).document)
        for step, is_on in ((3, False), (7, True))
    }
    sink, _ = watched(config, steps=12, sink=Steered(offers))
    assert steps_of(sink) == [1, 7, 9]


def test_the_steps_of_a_new_config_take_the_place_of_the_old_ones():
    pushed = {4: mapped_at([2, 6, 7]), 8: mapped_at([]), 10: mapped_at([8, 11])}

    def between(monitor, number):
        if number in pushed:
            monitor.apply(configfile.load(pushed[number]))

    sink, _ = watched(mapped_at([1, 5]), steps=13, between=between)
    assert steps_of(sink) == [1, 6, 7, 8, 11]  # 8: at the interval


def test_wrong_names_and_heads_are_told():
    config = {"telltale": {"attention_maps": {"block.0.attn": [0], "blocks.1": [9]}}}
    sink, _ = watched(config, steps=2)
    sentences = [text for text in sink.sentences() if "attention_maps" in text]
    assert not sink.maps()
    assert any('"block.0.attn" matches no module' in text for text in sentences)
    assert any("blocks.1.attn.core has none of the heads [9]" in text for text in sentences)


def test_a_step_has_a_bounded_number_of_maps(monkeypatch):
    monkeypatch.setattr("telltale.pytorch.mapdelivery.MOST_MAPS", 6)
    sink, _ = watched({"telltale": {"attention_maps": {"blocks.*": [0, 1, 2, 3]}}}, steps=1)
    assert {name for _, name in sink.maps()} == {"blocks.0.attn.core"}
    assert any("at most 6 maps" in text for text in sink.sentences())


def test_without_a_dashboard_no_map_is_made():
    sink = RecordingSink()
    model = GPT(d=32, n=1, t=16)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = TrainerMon({"telltale": {"attention_maps": {"blocks": [0]}}}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    model(torch.zeros(1, 16, dtype=torch.long)).sum().backward()
    optimizer.step()
    monitor.close()
    assert not [blob for blob in sink.blobs if blob[0] == "attention_map"]
    assert any("maps are for the dashboard" in text for text in sink.sentences())


@pytest.mark.parametrize("eager", [False, True])
def test_training_is_the_same_to_the_bit(eager):
    def run(config):
        torch.manual_seed(5)
        layer = nn.MultiheadAttention(32, 4, batch_first=True, dropout=0.1)
        layer.train()
        optimizer = torch.optim.Adam(layer.parameters(), 1e-2)
        sink = MapSink()
        monitor = TrainerMon({} if config is None else config, sinks=[sink])
        if config is not None:
            monitor.set_monitor(nn.ModuleDict({"attn": layer}), optimizer=optimizer)
        for _ in range(20):
            x = torch.randn(2, 24, 32)
            out, _ = layer(x, x, x, need_weights=eager)
            out.square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        monitor.close()
        return [p.detach().clone() for p in layer.parameters()], torch.rand(4), sink

    plain, number, _ = run(None)
    config = {"telltale": {"attention_maps": {"attn": []}, "attention_maps_interval": 1}}
    mapped, other, sink = run(config)
    assert torch.equal(number, other) and all(torch.equal(a, b) for a, b in zip(plain, mapped))
    assert len(sink.maps()) == 20


def test_the_field_reads_alike_with_and_without_the_native_core(monkeypatch):
    texts = [
        '{"telltale": {"attention_maps": {"a": [-1], "b": [0, 7000], "c": []}}}',
        '{"telltale": {"attention_maps": {"a": 3, "b": [1]}, "attention_maps_size": 4, "attention_maps_interval": 0}}',
        '{"telltale": {"attention_maps": []}}',
        '{"telltale": {"attention_maps_steps": [-1, 7, "8", 3, 2e15]}}',
        '{"telltale": {"attention_maps_steps": 5}}',
        '{"telltale": {"attention_maps_steps": [true]}}',
    ]
    never = [10**15]  # what could not be read selects no step
    read = [configfile.parse(text).config for text in texts]
    assert read[0].attention_maps == {"b": [0], "c": []} and read[1].attention_maps == {"b": [1]}
    assert read[1].attention_maps_size == 64 and read[1].attention_maps_interval == 100
    assert [one.attention_maps_steps for one in read] == [[], [], [], [7, 3], never, never]
    monkeypatch.setattr("telltale.native.available", lambda: False)
    for text, wanted in zip(texts, read):
        config = configfile.parse(text).config
        assert config.attention_maps == wanted.attention_maps
        assert config.attention_maps_steps == wanted.attention_maps_steps
