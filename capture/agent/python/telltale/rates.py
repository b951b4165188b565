# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a training is, under the names that MindSpore Transformers gives to it. No framework; thread: any."""

from __future__ import annotations

from dataclasses import dataclass

_DAY = 86400.0

DEFINITIONS = {
    "iteration-time": "milliseconds from the end of one optimizer step to that of the next",
    "throughput": "samples per second and device",
    "B-samples-per-day": "billions of samples that the whole job consumes in a day",
    "model-flops-throughput-per-npu": "10^12 floating point operations of the model per second and device",
    "model-flops-utilization": "share of the device's peak",
    "throughput_linearity": "throughput over the given baseline",
}


@dataclass(frozen=True)
class Rates:
    """What one optimizer step of the whole job consumes."""

    samples_per_step: float = 0.0  # 0 = not known: nothing is said that needs it
    devices: int = 1
    flops_per_step: float = 0.0
    peak_flops: float = 0.0  # per second, of one device
    baseline: float = 0.0  # samples per second and device

    def of(self, seconds: float) -> dict[str, float]:
        """The metrics of a step that took so long. {} where the clock says that it took no time."""
        if not seconds > 0:
            return {}
        found = {"iteration-time": seconds * 1000}
        if self.samples_per_step > 0:
            found["throughput"] = self.samples_per_step / self.devices / seconds
            found["B-samples-per-day"] = self.samples_per_step / seconds * _DAY / 1e9
            if self.baseline > 0:
                found["throughput_linearity"] = found["throughput"] / self.baseline
        if self.flops_per_step > 0:
            each = self.flops_per_step / self.devices / seconds
            found["model-flops-throughput-per-npu"] = each / 1e12
            if self.peak_flops > 0:
                found["model-flops-utilization"] = each / self.peak_flops
        return found
