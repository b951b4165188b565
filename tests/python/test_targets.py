# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets select by component, through wrappers and chunks, exactly as the C++ core does."""

import re

import pytest
from telltale.pytorch import targets
from telltale.pytorch.targets import TargetSet, nearest_names, selects_slot, squash_name, squashed_names, target_matches


@pytest.mark.parametrize(
    ("target", "name", "matches"),
    [
        ("layers.1", "layers.1", True),
        ("layers.1", "layers.1.mlp.weight", True),
        ("layers.1", "layers.10.mlp", False),
        ("layers.*.mlp", "layers.3.mlp.fc1", True),
        ("layers.*.mlp", "layers.3.attn", False),
        ("layers.?.mlp", "layers.12.mlp", False),
        ("layers.??.mlp", "layers.12.mlp", True),
        ("*emb", "tok_emb.weight", True),
        ("l*s.0", "layers.0.ln1", True),
        ("", "anything", True),
        ("", "", True),
        ("a.b", "a", False),
        ("a", "", False),
        ("a.", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.", False),
        ("a[b]", "a[b].c", True),
        ("***a**b", "xxaxxb", True),
        ("blocks", "blocks.0", True),
    ],
)
def test_a_target_selects_itself_and_everything_below_by_component(target, name, matches):
    assert target_matches(target, name) is matches


def test_a_selection_picks_tuple_elements_and_sides():
    one = {"input": "tensor", "output": "tuple[2]:1"}
    assert selects_slot(one, "input", False) and selects_slot(one, "output_1", False)
    assert not selects_slot(one, "output", False) and not selects_slot(one, "input_1", False)
    assert not selects_slot(one, "output_1", True)
    assert selects_slot({"output_grad": "tuple[2]"}, "output", True)
    assert selects_slot({}, "output_7", True)


WRAPPED = [
    "blocks.0.ln1",
    "module.blocks.0.ln1",
    "module.module.blocks.0.ln1",
    "_orig_mod.blocks.0.ln1",
    "module._orig_mod.blocks.0.ln1",
    "_fsdp_wrapped_module.blocks.0._fsdp_wrapped_module.ln1",
    "blocks.0._checkpoint_wrapped_module.ln1",
    "blocks.0._fsdp_wrapped_module._checkpoint_wrapped_module.ln1",
]


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize(
    "wrapped_target", [*WRAPPED, "blocks.*.ln1", "module.blocks.?", "0:blocks.0", "0:module.blocks.0"]
)
def test_wrappers_on_either_side_do_not_matter(name, wrapped_target):
    assert TargetSet({wrapped_target: {}}).selects(name)
    assert not TargetSet({wrapped_target: {}}).selects(name.replace("blocks.0", "heads.0"))


def test_a_target_of_wrapper_names_alone_is_not_everything():
    assert not TargetSet({"module": {}}).selects("blocks.0")
    assert TargetSet({"module": {}}).selects("module.blocks.0")
    assert TargetSet({"": {}}).selects("blocks.0") and TargetSet({}).selects("blocks.0")


def test_a_chunk_prefix_selects_one_chunk():
    chosen = TargetSet({"1:blocks.0": {}})
    assert chosen.selects("blocks.0.fc", vpp_stage=1) and not chosen.selects("blocks.0.fc", vpp_stage=0)
    assert TargetSet(["blocks.0"]).selects("blocks.0", vpp_stage=3)


def test_a_selection_holds_for_the_module_it_names_and_not_below():
    chosen = TargetSet({"blocks.*": {"output": "tuple[2]:1"}, "blocks.0": {"input": "tensor"}})
    assert chosen.selects_slot("module.blocks.1", "output_1") and not chosen.selects_slot("blocks.1", "output")
    assert chosen.selects_slot("blocks.0", "input"), "the exact name decides over the glob"
    assert not chosen.selects_slot("blocks.0", "output_1")
    assert not chosen.selects_slot("blocks.0", "input", gradient=True)
    assert chosen.selects_slot("blocks.0.attn", "output"), "below a target everything is selected"
    assert not chosen.selects_slot("head", "output")


def test_targets_that_match_nothing_come_with_near_names():
    names = ["blocks.0.attn.core", "blocks.1.attn.core", "head", "tok"]
    chosen = TargetSet({"blocks.0": {}, "blokcs.1": {}, "attn.core": {}})
    assert [chosen.selects("module." + name) for name in names] == [True, False, False, False]
    assert chosen.unmatched() == ["blokcs.1", "attn.core"]
    typo, inner = chosen.unmatched_sentences(["blocks.1", "", *names])
    assert '"blokcs.1" matches no parameter or module' in typo and "blocks.1" in typo
    assert "blocks.0.attn.core" in inner
    assert nearest_names("zzz", names) == []


def test_squashed_names_match_when_the_config_uses_them():
    assert TargetSet({"layers.3.mlp": {}}, squash=True).selects("encoder.layers.3.mlp.fc1.weight")
    assert not TargetSet({"layers.3.mlp": {}}).selects("encoder.layers.3.mlp.fc1.weight")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("module.module.encoder.layers.0.mlp.fc1.weight", "layers.0.mlp.fc1.weight"),
        ("module.output_layer.weight", "output_layer.weight"),
        ("blocks.0.norm1.weight", "norm1.weight"),
        ("vision.layers.5.adapter.layer.1.w", "layer.1.w"),
        ("layers.0.w", "layers.0.w"),
        ("model.embed_tokens.weight", "model.embed_tokens.weight"),
        ("a.final_norm.weight", "final_norm.weight"),
        ("a.embedding.word_embeddings.weight", "embedding.word_embeddings.weight"),
        ("a.layers", "a.layers"),
        ("a.norm.output.b", "output.b"),
    ],
)
def test_names_squash_as_msprobe_squashes_them(name, short):
    assert squash_name(name) == short
    # msprobe's own expressions, as documented
    patterns = [r"(layers?\..*)", r"(embeddings?\..*)", r"(final.*)", r"(output.*)", r"(norm.*)"]
    found = next((m.group(1) for p in patterns if (m := re.match(r"^.*\." + p, name))), name)
    assert found == short


def test_the_second_name_that_squashes_alike_keeps_its_full_form():
    names = ["encoder.layers.0.w", "decoder.layers.0.w", "other.layers.0.w", "b"]
    assert squashed_names(names) == {
        "encoder.layers.0.w": "layers.0.w",
        "decoder.layers.0.w": "decoder.layers.0.w",
        "other.layers.0.w": "other.layers.0.w",
        "b": "b",
    }


def test_globs_stay_quick_on_hostile_text():
    assert not targets.component_matches("*a" * 12 + "b", "a" * 60)
