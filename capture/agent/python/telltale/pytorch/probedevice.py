# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_probe of gradients on a device: counted and packed there by torch's operations, eight signs a byte, and fetched
by the thread that writes the files. The training's thread waits for nothing but a disk that is far behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ..gradprobe.probe import GradProbe
from ..gradprobe.tally import Tally
from ..kinds import DType

_PART = 1 << 22  # elements; what is counted takes up to 16 bytes an element of the device's memory meanwhile


def take_on_device(probe: GradProbe, name: str, shape: tuple[int, ...], flat: torch.Tensor) -> str:
    """Queues what GradProbe.take() does; why not, "" when done. In quiet()."""
    if flat.is_cuda and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph is being captured"
    tally, signs = probe.entry(name, shape)
    for part in flat.split(_PART) if flat.numel() else ():
        part = part.float() if part.dtype in (torch.float16, torch.bfloat16) else part
        numel = part.numel()
        if signs is not None:
            numbers, bits = _landing(_counted(part, tally)), _landing(_packed(part))
            signs.put_later((numel + 7) // 8, numel, partial(_count, tally, numel, numbers, bits))
        elif not probe.post(4 * numel, partial(_hash, tally, _landing(part.float()))):
            probe.leave_out("the disk is slower than the training")
    return ""


def _count(tally: Tally, numel: int, numbers: Callable[[], Any], bits: Callable[[], Any]) -> Any:
    """Thread: the worker's."""
    tally.add_numbers([numel, *numbers().tolist()])
    return bits()


def _hash(tally: Tally, values: Callable[[], Any]) -> None:
    """All of a gradient, since its checksum is that of the bytes in their order. Thread: the worker's."""
    tally.add(values(), DType.F32)


def _counted(part: torch.Tensor, tally: Tally) -> torch.Tensor:
    """What Tally.add_numbers() takes, but for the number of elements."""
    wide = torch.float32 if part.device.type == "mps" else torch.float64
    least, largest = torch.aminmax(part)
    norm = torch.linalg.vector_norm(part, dtype=wide)
    counts = [torch.isnan(part).sum(), least, largest, norm * norm, (part == 0).sum()]
    counts += [(part <= edge).sum() for edge in tally.edges]
    return torch.stack([count.to(wide) for count in counts])


def _packed(part: torch.Tensor) -> torch.Tensor:
    """Eight signs a byte, the lowest bit first."""
    signs = (part > 0).view(torch.uint8)
    signs = torch.nn.functional.pad(signs, (0, -signs.numel() % 8)).view(-1, 8)
    places = torch.arange(8, device=part.device, dtype=torch.uint8)
    return torch.bitwise_left_shift(signs, places).sum(dim=1, dtype=torch.uint8)


def _landing(tensor: torch.Tensor) -> Callable[[], Any]:
    """Begins to bring a tensor home; the function waits for it, on another thread."""
    if not tensor.is_cuda:
        return lambda: tensor.cpu().numpy()
    home = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    home.copy_(tensor, non_blocking=True)
    event = torch.cuda.Event()
    event.record()

    def fetch() -> Any:
        event.synchronize()
        return home.numpy()

    return fetch
