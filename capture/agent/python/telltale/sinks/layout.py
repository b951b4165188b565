# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's layout of what was measured: which file a kind goes to, what a row is called, how a cell is written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..config import MonitorConfig
from ..kinds import DType, Kind, Stat
from ..names import squash_name
from ..series import PASS, SeriesDesc, TableSnapshot, is_histogram

STAT_COLUMNS: dict[str, Stat] = {
    **{stat.word: stat for stat in Stat},
    "router_weight_similarity": Stat.SIMILARITY,
    "per_token_expert_entropy": Stat.ENTROPY,
}
STATS_OPS = tuple(stat.member for stat in PASS if not stat.is_asked)
COUNTS = frozenset(stat.member for stat in PASS if stat.is_whole and not stat.is_asked)
CHECKSUM = Stat.CHECKSUM.word
METADATA = ("shape", "dtype")
_INTEGERS = frozenset({DType.I8, DType.U8, DType.I16, DType.I32, DType.I64})
_TORCH_NAMES = {
    DType.F32: "float32",
    DType.F64: "float64",
    DType.F16: "float16",
    DType.BF16: "bfloat16",
    DType.I8: "int8",
    DType.U8: "uint8",
    DType.I16: "int16",
    DType.I32: "int32",
    DType.I64: "int64",
    DType.BOOL: "bool",
}


@dataclass(frozen=True)
class FileKind:
    """One file name prefix and what its rows hold."""

    prefix: str
    task: str  # msprobe's word inside tags: "acc_grad"
    has_micro_step: bool
    columns: tuple[str, ...] = ()  # empty = the config's ops
    suffix: str = ""  # of the name: ".attention"


_PLAIN = (
    Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.EXP_AVG, Kind.EXP_AVG_SQ, Kind.UPDATE, Kind.UPDATE_RATIO
)  # fmt: skip
_FIXED = {
    Kind.ACTV: FileKind("actv", "actv", True),
    Kind.ACTV_GRAD: FileKind("actv_grad", "actv_grad", True),
    Kind.GRAD_REDUCED: FileKind("grad_reduced", "post_grad", False),
    Kind.MG_DIRECTION: FileKind("other", "mg_direction", False),
    Kind.COMM: FileKind("other", "", False),
    Kind.LINEAR: FileKind("linear_hook", "sr", False, ("sr", "kernel_norm"), ".linear"),
    Kind.SCALAR: FileKind("scalar", "scalar", False, ("value",)),
    **{kind: FileKind(kind.word, kind.word, False) for kind in _PLAIN},
}
_ATTENTION = FileKind("attention_hook", "qkt", True, ("entropy", "softmax_max"), ".attention")
_HEADS = FileKind("attention_heads", "qkt", True, ("entropy", "softmax_max", "max_logit"), ".attention")
_ROUTER_WEIGHT = FileKind(
    "moe_router_weight_hook", "router_weight", False, ("router_weight_similarity",), ".moe_router"
)
_ROUTER_LOGIT = FileKind("moe_router_logit_hook", "router_logit", True, ("per_token_expert_entropy",), ".moe_router")

# The order in which msprobe writes a step, which is also the order of its alerts.
WRITE_ORDER = (
    Kind.ACTV,
    Kind.ACTV_GRAD,
    Kind.ATTENTION,
    Kind.LINEAR,
    Kind.ROUTER,
    Kind.GRAD_UNREDUCED,
    Kind.GRAD_REDUCED,
    Kind.EXP_AVG,
    Kind.EXP_AVG_SQ,
    Kind.PARAM_ORIGIN,
    Kind.PARAM_UPDATED,
    Kind.UPDATE,
    Kind.UPDATE_RATIO,
    Kind.MG_DIRECTION,
    Kind.COMM,
    Kind.SCALAR,
)
_RANK_OF_KIND = {kind: i for i, kind in enumerate(WRITE_ORDER)}
# Kinds whose rows msprobe writes module by module: all micro steps of one, then the next.
BY_MODULE = frozenset({Kind.ACTV, Kind.ATTENTION, Kind.LINEAR, Kind.ROUTER})
_PARAMETER_KINDS = frozenset(_PLAIN) | {Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.MG_DIRECTION}


def file_kind(table: TableSnapshot, config: MonitorConfig) -> FileKind:
    """Where the rows of a table go."""
    kind = table.kind
    if kind is Kind.GRAD_UNREDUCED:
        return FileKind("grad_unreduced", "acc_grad", config.monitor_mbs_grad)
    if kind is Kind.ATTENTION:
        return _ATTENTION
    if kind is Kind.ROUTER:
        return _ROUTER_LOGIT
    return _FIXED[kind]


def split(table: TableSnapshot, config: MonitorConfig) -> list[tuple[FileKind, np.ndarray]]:
    """The files of a table with the rows of each, in msprobe's order. Attention: what msprobe itself measures (its
    first head) goes to attention_hook, all other heads to a file of their own, so that the former stays as msprobe has
    it. Routers: weights and logits have a file each. Linear layers: one row each. Histograms have no rows."""
    if is_histogram(table):
        return []
    kind = file_kind(table, config)
    order = _order(table)
    if table.kind is Kind.ATTENTION:
        other, is_other = _HEADS, [table.series[i].slot.head >= 0 for i in order]
    elif table.kind is Kind.LINEAR:
        as_msprobe = order[~_is_squared(table)[order]]  # where both definitions are measured, the file has msprobe's
        return [(kind, as_msprobe if as_msprobe.size else order)]
    elif table.kind is Kind.ROUTER:
        other, is_other = _ROUTER_WEIGHT, [_is_router_weight(table, int(i)) for i in order]
    else:
        return [(kind, order)]
    chosen = np.array(is_other, bool)
    return [(files, rows) for files, rows in ((kind, order[~chosen]), (other, order[chosen])) if rows.size]


def _is_router_weight(table: TableSnapshot, position: int) -> bool:
    desc = table.series[position]
    return Stat.ENTROPY not in table.stats or desc.slot.word == "weight" or "cosine" in desc.definition


def _order(table: TableSnapshot) -> np.ndarray:
    if table.arrival is not None and table.kind is Kind.GRAD_UNREDUCED:
        return table.arrival
    if table.arrival is not None and table.kind is Kind.ACTV_GRAD:
        return _by_end(table, table.arrival)
    order = np.arange(len(table.series))
    if table.kind not in BY_MODULE:
        return order
    first: dict[tuple[int, str], int] = {}
    groups = [first.setdefault((desc.vpp_stage, desc.name), len(first)) for desc in table.series]
    return np.argsort(np.array(groups), kind="stable")


def _by_end(table: TableSnapshot, arrival: np.ndarray) -> np.ndarray:
    """Module by module in the order in which their backward ended, as msprobe notes both sides of a module then."""
    ends: dict[tuple[int, str, int], int] = {}
    whose = [(desc.vpp_stage, desc.name, desc.micro_step) for desc in table.series]
    for place, row in enumerate(arrival):
        ends[whose[row]] = place
    return np.argsort(np.array([ends[key] for key in whose]), kind="stable")


def sorted_tables(tables: list[TableSnapshot]) -> list[TableSnapshot]:
    """A frame's tables in the order in which msprobe writes them."""
    return sorted(tables, key=lambda table: _RANK_OF_KIND.get(table.kind, len(WRITE_ORDER)))


class Names:
    """Names as msprobe writes them: squashed where the config asks for it. A name whose short form another one has
    already keeps its full form, for parameters in the order they were registered, and (msprobe lets those overwrite
    each other) for modules in the order they were first seen. Thread: one."""

    def __init__(self, squash: bool, parameters: list[tuple[int, str]] | None = None) -> None:
        """parameters: (vpp stage, name) in registration order; without it, the order they are asked for counts."""
        self._squash = squash
        self._short: dict[tuple[bool, int, str], str] = {}
        self._taken: set[tuple[bool, int, str]] = set()
        for vpp_stage, name in parameters or ():
            self._shorten(True, vpp_stage, name)

    def base(self, kind: Kind, desc: SeriesDesc) -> str:
        """The parameter's or module's own name."""
        if not self._squash or kind in (Kind.COMM, Kind.SCALAR):
            return desc.name
        return self._shorten(kind in _PARAMETER_KINDS, desc.vpp_stage, desc.name)

    def row(self, kind: Kind, files: FileKind, desc: SeriesDesc) -> str:
        """A row's name: "blocks.0.attn.core.input_0"."""
        name = self.base(kind, desc) + files.suffix
        slot = desc.slot.text
        if not slot or slot == files.suffix[1:] or kind in (Kind.LINEAR, Kind.ROUTER):
            return name
        return f"{name}.{slot}"

    def module_key(self, key: str) -> str:
        """ "0:encoder.layers.0" -> "0:layers.0" where names are squashed."""
        stage, found, name = key.partition(":")
        if not self._squash or not found or not stage.isdecimal():
            return key
        return f"{stage}:{self._shorten(False, int(stage), name)}"

    def _shorten(self, is_parameter: bool, vpp_stage: int, name: str) -> str:
        key = (is_parameter, vpp_stage, name)
        short = self._short.get(key)
        if short is None:
            short = squash_name(name)
            if (is_parameter, vpp_stage, short) in self._taken:
                short = name
            self._short[key] = short
            self._taken.add((is_parameter, vpp_stage, short))
        return short


def tag(names: Names, kind: Kind, files: FileKind, desc: SeriesDesc, rank: int) -> str:
    """msprobe's tag: "0:blocks.0.input:0/rank0/actv". Collectives have no stage there: "all_reduce/rank0/post_0"."""
    if kind is Kind.COMM:
        return f"{names.base(kind, desc)}/rank{rank}/{desc.slot}"
    micro = f":{max(desc.micro_step, 0)}" if files.has_micro_step else ""
    return f"{desc.vpp_stage}:{names.row(kind, files, desc)}{micro}/rank{rank}/{files.task}"


def ops_of(files: FileKind, config: MonitorConfig) -> list[str]:
    """Value and metadata columns of a file. As msprobe has it, shape and dtype come last where the user did not place
    them."""
    if files.columns:
        return list(files.columns)
    added = [CHECKSUM] if config.checksum else []
    return list(config.ops) + added + [op for op in METADATA if op not in config.ops]


def column(table: TableSnapshot, op: str, eps: float) -> np.ndarray | None:
    """A column's values [n] as float64; None when the table has no such column."""
    if table.kind is Kind.MG_DIRECTION and table.stats:
        return _of_scalar(table.values[:, 0], op, eps)
    if table.stats:
        stat = STAT_COLUMNS.get(op)
        if stat not in table.stats:
            return None
        values: np.ndarray = table.values[:, table.stats.index(stat)]
        return _as_ratio(table, values) if stat is Stat.STABLE_RANK else values
    if op == "id":
        is_scalar = np.array([desc.shape == () for desc in table.series], bool)
        return np.where(is_scalar, table.column("max"), np.nan)
    if op in ("pos_infs", "neg_infs"):
        counts: np.ndarray = table.values[op].astype(np.float64)
        return counts
    return table.column(op) if op in STATS_OPS else None


def _as_ratio(table: TableSnapshot, values: np.ndarray) -> np.ndarray:
    """msprobe's sr is F/sigma; a stable rank by its usual definition, F^2/sigma^2, is that squared."""
    is_squared = _is_squared(table)
    ratio = values.copy()
    ratio[is_squared] = np.sqrt(np.maximum(values[is_squared], 0.0))
    return ratio


def _is_squared(table: TableSnapshot) -> np.ndarray:
    return np.array([desc.definition.startswith("F^2") for desc in table.series], bool)


def _of_scalar(value: np.ndarray, op: str, eps: float) -> np.ndarray | None:
    """An op of tensors of one element each, [n]."""
    found: dict[str, np.ndarray] = {
        "norm": np.abs(value),
        "zeros": (np.abs(value) < eps).astype(np.float64),
        "nans": np.isnan(value).astype(np.float64),
        **dict.fromkeys(("min", "max", "mean", "id"), value),
    }
    return found.get(op)


def holds_integers(desc: SeriesDesc) -> bool:
    """Whether the measured tensor's elements are integers, which min and max show."""
    return desc.dtype in _INTEGERS


def _is_torch(desc: SeriesDesc) -> bool:
    return desc.torch_dtype.startswith("torch.") or not desc.torch_dtype


def shape_text(kind: Kind, desc: SeriesDesc) -> str:
    """ "[8, 64]", "(8, 64)" as msprobe has it for MindSpore; "nan" where one row stands for many tensors."""
    if kind is Kind.MG_DIRECTION:
        return "[]"
    if kind is Kind.COMM and not desc.shape:
        return "nan"
    return str(list(desc.shape) if _is_torch(desc) else tuple(desc.shape))


def dtype_text(kind: Kind, desc: SeriesDesc) -> str:
    """ "torch.float32"."""
    if kind is Kind.MG_DIRECTION:
        return "torch.float32" if _is_torch(desc) else "Float32"
    if desc.torch_dtype:
        return desc.torch_dtype
    known = _TORCH_NAMES.get(desc.dtype)
    return f"torch.{known}" if known else "nan"
