# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets select by component, through wrappers and chunks, exactly as the C++ core does."""

import re

import pytest
from tables import slot_of
from telltale.agent import targets
from telltale.agent.targets import (
    Place,
    TargetSet,
    nearest_names,
    old_squash_name,
    selects_slot,
    squash_name,
    squashed_names,
    target_matches,
)
from telltale.names import listed


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
    assert selects_slot(one, slot_of("input"), False) and selects_slot(one, slot_of("output_1"), False)
    assert not selects_slot(one, slot_of("output"), False) and not selects_slot(one, slot_of("input_1"), False)
    assert not selects_slot(one, slot_of("output_1"), True)
    assert selects_slot({"output_grad": "tuple[2]"}, slot_of("output"), True)
    assert selects_slot({}, slot_of("output_7"), True)


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
    assert chosen.selects_slot("module.blocks.1", slot_of("output_1"))
    assert not chosen.selects_slot("blocks.1", slot_of("output"))
    assert chosen.selects_slot("blocks.0", slot_of("input")), "the exact name decides over the glob"
    assert not chosen.selects_slot("blocks.0", slot_of("output_1"))
    assert not chosen.selects_slot("blocks.0", slot_of("input"), gradient=True)
    assert chosen.selects_slot("blocks.0.attn", slot_of("output")), "below a target everything is selected"
    assert not chosen.selects_slot("head", slot_of("output"))


def test_targets_that_match_nothing_come_with_near_names():
    names = ["blocks.0.attn.core", "blocks.1.attn.core", "head", "tok"]
    chosen = TargetSet({"blocks.0": {}, "blokcs.1": {}, "attn.core": {}})
    assert [chosen.selects("module." + name) for name in names] == [True, False, False, False]
    assert chosen.unmatched() == ["blokcs.1", "attn.core"]
    typo, inner = chosen.unmatched_sentences(["blocks.1", "", *names])
    assert '"blokcs.1" matches no parameter or module' in typo and "blocks.1" in typo
    assert "blocks.0.attn.core" in inner
    assert nearest_names("zzz", names) == []


NAMES = [(0, "module.encoder.layers.3.mlp"), (0, "module.encoder.layers.63.mlp.linear_fc2"), (0, "module.norm")]


@pytest.mark.parametrize("target", ["layers.63.mlp.linear_fc2", "63.mlp.linear_fc2", "0:63.mlp.linear_fc2", "63.mlp"])
def test_short_names_of_both_generations_match(target):
    chosen = TargetSet({target: {}}, NAMES)
    assert [name for _, name in NAMES if chosen.selects(name)] == [NAMES[1][1]]
    assert target in chosen.reading() and chosen.unmatched() == []
    assert chosen.names(NAMES[1][1]) == target.endswith("linear_fc2")
    assert not TargetSet({target: {}}).selects(NAMES[1][1]), "without the model's names they stand as they are"


def test_a_name_that_exists_is_never_read_as_a_short_one():
    names = [(0, "3.mlp"), (0, "layers.3.mlp"), (0, "encoder.layers.3.mlp")]
    for target, wanted in (("3.mlp", "3.mlp"), ("layers.3.mlp", "layers.3.mlp")):
        chosen = TargetSet({target: {}}, names)
        assert [name for _, name in names if chosen.selects(name)] == [wanted] and chosen.reading() == ""
    assert not TargetSet({"1:63.mlp": {}}, NAMES).selects(NAMES[1][1]), "the chunk counts"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("module.module.encoder.layers.0.mlp.fc1.weight", "0.mlp.fc1.weight"),
        ("output_layer.weight", "weight"),
        ("model.embeddings.word.weight", "word.weight"),
        ("a.final_norm.weight", "final_norm.weight"),
        ("blocks.0.norm1.weight", "norm1.weight"),
        ("head.weight", "head.weight"),
        ("decoder.layers.", "decoder.layers."),
    ],
)
def test_old_short_names_are_those_of_msprobe_before_8_2(name, short):
    assert old_squash_name(name) == short
    found = ""  # its own code
    for pattern in [r"layers?\.(.*)", r"embeddings?\.(.*)", "final.*", "output.*", "norm.*"]:
        match = re.findall(pattern, name)
        if match:
            found += match[0]
            break
    assert short == (found or name)


@pytest.mark.parametrize(
    ("spec", "place", "selects"),
    [
        ("tuple[2]:1", Place(1, 0), True),
        ("tuple[2]:0", Place(1, 0), False),
        ("tuple[2]", Place(0, 0), True),
        ("list[1]", Place(1, 0), True),
        ("list[2]:1", Place(1, 0), False),
        ("tensor", Place(1, 0), True),
        ("tensor", Place(1, 1), False),
    ],
)
def test_positions_are_those_of_the_training_code(spec, place, selects):
    assert selects_slot({"input": spec}, slot_of("input"), False, place) is selects
    by_position = selects if not spec.startswith("list") else place.position == int(spec[-1] == "1" and ":" in spec)
    assert selects_slot({"output": spec}, slot_of("output"), False, place) is by_position


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


def test_a_list_of_names_has_those_of_the_series():
    assert listed(["module.blocks.0.mlp", "blocks.1._checkpoint_wrapped_module", "the whole model", "module"]) == (
        "blocks.0.mlp, blocks.1, the whole model, module"
    )
    assert listed([f"module.{i}" for i in range(7)]) == "0, 1, 2, 3, 4 and 2 more"
