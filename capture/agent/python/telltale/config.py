# SPDX-License-Identifier: GPL-3.0-or-later
"""The monitor's config.json: msprobe's fields with msprobe's names, types and defaults, and Telltale's own object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class CommConfig:
    """cc_distribution"""

    enable: bool = False
    cc_codeline: list[str] = field(default_factory=list)
    cc_pre_hook: bool = False
    cc_log_only: bool = False


@dataclass
class AlertRule:
    """One of alert.rules: AnomalyTurbulence or AnomalyNan."""

    rule_name: str
    threshold: float | None = None


@dataclass
class MonitorConfig:
    """Every field in force; bad ones hold their defaults."""

    targets: dict[str, dict[str, str]] = field(default_factory=dict)  # empty = everything
    l2_targets: dict[str, list[str]] = field(default_factory=dict)
    recording_l2_features: bool = False
    sa_order: str = "s,b,h,d"
    print_struct: bool = False
    stop_after_struct: bool = False  # telltale.stop_after_struct
    stop_after_cc_log: bool = False  # telltale.stop_after_cc_log
    module_ranks: list[int] = field(default_factory=list)  # empty = all
    ur_distribution: bool = False
    xy_distribution: bool = False
    all_xy: bool = False
    forward_only: bool = False
    backward_only: bool = False
    mv_distribution: bool = False
    param_distribution: bool = False
    wg_distribution: bool = False
    mg_direction: bool = False
    cc_distribution: CommConfig = field(default_factory=CommConfig)
    alert_rules: list[AlertRule] = field(default_factory=list)
    alert_dump: bool = False
    alert_two_sided: bool = False  # telltale.alert_two_sided
    stack_info: bool = False
    monitor_mbs_grad: bool = False
    format: list[str] = field(default_factory=list)  # empty = stream with a join string, else csv
    ops: list[str] = field(default_factory=lambda: ["norm"])
    eps: float = 1e-8
    ndigits: int | None = None  # None = 9 significant digits in files; a number = decimals, as msprobe has it
    step_count_per_record: int = 1
    append_output: list[str] = field(default_factory=list)
    squash_name: bool = False
    start_step: int = 0
    step_interval: int = 1
    collect_times: int = 100_000_000
    dynamic_on: bool = False
    attention_hook: bool = False  # telltale.attention_hook: every module found to be attention
    attention_queries: int = 32  # telltale.attention_queries: rows looked at per head; 0 = all
    attention_maps: dict[str, list[int]] = field(default_factory=dict)  # telltale.attention_maps: module -> heads
    attention_maps_interval: int = 100  # telltale.attention_maps_interval: in steps
    attention_maps_steps: list[int] = field(default_factory=list)  # telltale.attention_maps_steps: not by interval
    attention_maps_size: int = 64  # telltale.attention_maps_size: rows and columns at most
    actv_grad_input: str = "share"  # telltale.actv_grad_input: of an input's gradient: "share" or "total"
    checksum: bool = False  # telltale.checksum: of every tensor measured
    histogram: list[str] = field(default_factory=list)  # telltale.histogram: kinds whose tensors have one
    threads: int = 2  # telltale.threads: upper bound for one call of the statistics kernel
    overhead_budget: float = 0.0  # telltale.overhead_budget: percent of the time of a step; 0 = no limit
    environment: bool = True  # telltale.environment: what the training runs on
    system_metrics: bool = True  # telltale.system_metrics: what process and machine use
    flight_recorder: int = 0  # telltale.flight_recorder: steps that are kept of what is not sent; 0 = none
    extras: dict[str, Any] = field(default_factory=dict)  # what else stood in "telltale"

    def selects_anything(self) -> bool:
        """Whether any kind of measurement is asked for, whatever the model has of it."""
        return bool(
            self.wg_distribution or self.xy_distribution or self.param_distribution or self.mv_distribution
            or self.mg_direction or self.ur_distribution or self.attention_hook or self.attention_maps
            or self.cc_distribution.enable
            or self.stack_info or self.print_struct or (self.recording_l2_features and self.l2_targets)
        )  # fmt: skip

    def collects_at(self, step: int) -> bool:
        """Whether the gates let this step be collected (collect_times is counted by the monitor)."""
        return step >= self.start_step and (step - self.start_step) % self.step_interval == 0


@dataclass(frozen=True)
class Problem:
    """A finding about one field, shown to the user as it stands."""

    pointer: str  # JSON pointer, "/ops/0"
    sentence: str
    is_error: bool = True
    instead: str = ""  # what holds in place of what could not be read, such as "1 is used"

    def __str__(self) -> str:
        return self.sentence if self.pointer in self.sentence else f"{self.pointer}: {self.sentence}"


@dataclass
class LoadedConfig:
    config: MonitorConfig
    problems: list[Problem]
    text: str  # as read, what is sent to the dashboard
    document: dict[str, Any] = field(default_factory=dict)  # every field, as the core has them
