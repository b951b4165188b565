# SPDX-License-Identifier: GPL-3.0-or-later
"""A training of a transformer of 53 tensors for 200 steps, on which msprobe's documented alert rules were measured: 22
alerts a step while it is clean, 43,996 after a NaN in one gradient, none for 99 steps after a loss times 1e6.

python tests/judge/alertsgpt.py [--fault nan|spike] [--seed N] [--steps N] [--config FILE]
"""

from __future__ import annotations

import argparse
import inspect
import json

import telltale
import torch
from torch import nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, WINDOW, BATCH = 128, 4, 4, 64, 8
FAULT_STEP = 100
BAD = "blocks.2.mlp.0.weight"


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        out = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.proj(out.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln1, self.attn, self.ln2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(256, WIDTH), nn.Embedding(WINDOW, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.lnf, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", choices=["nan", "spike"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--config", help="monitor config (default: everything is collected)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    text = torch.tensor(list(inspect.getsource(argparse).encode()))
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    monitor = telltale.watch(model, optimizer, options.config, name="alerts-gpt")
    step = 0

    def poison(gradient: torch.Tensor) -> torch.Tensor:
        if options.fault == "nan" and step == FAULT_STEP:
            gradient = gradient.clone()
            gradient[3, 5] = float("nan")
        return gradient

    model.get_parameter(BAD).register_hook(poison)
    random = torch.Generator().manual_seed(options.seed + 1)
    for step in range(options.steps):  # noqa: B007 - poison() asks for it
        starts = torch.randint(0, len(text) - WINDOW - 1, (BATCH,), generator=random)
        windows = torch.stack([text[start : start + WINDOW + 1] for start in starts])
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        monitor.log({"loss": loss.item()})
        (loss * 1e6 if options.fault == "spike" and step == FAULT_STEP else loss).backward()
        optimizer.step()
    monitor.flush(20)
    print(json.dumps({k: v for k, v in monitor.counters().items() if k in ("produced", "dropped", "in_flight")}))
    telltale.finish()


if __name__ == "__main__":
    main()
