# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of metrics: as the documents give them, or as MindSpore Transformers 2.1 writes them."""

from __future__ import annotations

from typing import Literal

Style = Literal["documents", "2.1"]
# The documents know companions by samples of all of MFLossMonitor's metrics but the last two.
WITHOUT_COMPANION = ("model-flops-throughput-per-npu", "B-samples-per-day")
_MAIN = "lm"


class Tags:
    """One style."""

    def __init__(self, style: Style) -> None:
        self._is_documented = style == "documents"

    def companion(self, name: str) -> str:
        """The same metric over samples: "loss" -> "loss-vs-samples"."""
        return name + ("-vs-samples" if self._is_documented else "_vs_samples")

    def local_loss(self, of: str) -> str:
        """The mean over the step's micro batches. of: which loss ("lm", "mtp")."""
        return "local_loss" if self._is_main(of) else f"local_{of}_loss"

    def device_loss(self, of: str) -> str:
        """The sum over the step's micro batches."""
        return "device_accum_local_loss" if self._is_main(of) else f"device_accum_local_{of}_loss"

    def micro_loss(self, of: str) -> str:
        """One micro batch's, in the log alone."""
        return f"micro_{self.local_loss(of)}"

    def _is_main(self, of: str) -> bool:
        return self._is_documented and of == _MAIN
