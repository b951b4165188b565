# SPDX-License-Identifier: GPL-3.0-or-later
"""What the training's process and its machine use: scalars of the group `system/`."""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any

GROUP = "system/"
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class SystemMetrics:
    """Reads /proc, torch's own account of device memory, and NVML where it is installed. Nothing of it waits for a
    device or begins to use one. Thread: one, not the training's."""

    def __init__(self) -> None:
        self._before: tuple[float, float, list[int]] | None = None  # seconds, seconds of this process, /proc/stat
        self._nvml: Any = None
        self._is_nvml_tried = False

    def read(self) -> dict[str, float]:
        """By name. What cannot be read here is left out; use over time comes from the second call on."""
        found: dict[str, float] = {}
        for part in (self._process, self._memory, self._torch, self._devices):
            try:
                found |= part()
            except Exception:  # noqa: BLE001 - a file that another system does not have, a driver in trouble
                continue
        return {GROUP + name: value for name, value in found.items()}

    def _process(self) -> dict[str, float]:
        with open("/proc/self/statm", encoding="ascii") as file:
            found = {"rss_bytes": float(int(file.read().split()[1]) * _PAGE)}
        times = os.times()
        with open("/proc/stat", encoding="ascii") as file:
            host = [int(word) for word in file.readline().split()[1:9]]
        now = time.monotonic(), times.user + times.system, host
        before, self._before = self._before, now
        if before is None or now[0] <= before[0]:
            return found
        found["cpu_percent"] = 100 * (now[1] - before[1]) / (now[0] - before[0])
        spent = [new - old for new, old in zip(host, before[2])]
        if sum(spent) > 0:
            idle = spent[3] + spent[4]
            found["host_cpu_percent"] = 100 * (sum(spent) - idle) / sum(spent)
        return found

    def _memory(self) -> dict[str, float]:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith("Mem")}
        return {"host_memory_percent": 100 * (1 - lines["MemAvailable"] / lines["MemTotal"])}

    def _torch(self) -> dict[str, float]:
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
            return {}
        used = reserved = 0
        for device in range(torch.cuda.device_count()):
            used += torch.cuda.memory_allocated(device)
            reserved += torch.cuda.memory_reserved(device)
        return {"gpu_allocated_bytes": float(used), "gpu_reserved_bytes": float(reserved)}

    def _devices(self) -> dict[str, float]:
        nvml = self._driver()
        torch = sys.modules.get("torch")
        if nvml is None or torch is None or not torch.cuda.is_initialized():
            return {}
        handle = nvml.nvmlDeviceGetHandleByUUID(_uuid(torch))
        found = {"gpu_percent": float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)}
        found["gpu_used_bytes"] = float(nvml.nvmlDeviceGetMemoryInfo(handle).used)
        found["gpu_watts"] = nvml.nvmlDeviceGetPowerUsage(handle) / 1000
        found["gpu_celsius"] = float(nvml.nvmlDeviceGetTemperature(handle, 0))
        return found

    def _driver(self) -> Any:
        if not self._is_nvml_tried:
            self._is_nvml_tried = True
            try:
                nvml = importlib.import_module("pynvml")
                nvml.nvmlInit()
                self._nvml = nvml
            except Exception:  # noqa: BLE001 - not installed, or no driver
                self._nvml = None
        return self._nvml


def _uuid(torch: Any) -> bytes:
    """Of the device that this process uses, whatever CUDA_VISIBLE_DEVICES calls it."""
    text = str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
    return (text if text.startswith("GPU-") else f"GPU-{text}").encode()
