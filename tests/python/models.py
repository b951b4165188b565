# SPDX-License-Identifier: GPL-3.0-or-later
"""Small trainings, each with something that a careless monitor would disturb."""

from __future__ import annotations

from typing import Any, Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


class Cnn(nn.Module):
    """Batch norm and an in-place ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(4 * 16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.repeat(1, 2).view(-1, 1, 4, 4)
        return self.head(self.drop(self.relu(self.norm(self.conv(x)))).flatten(1))


class ThreeConsumers(nn.Module):
    """One tensor feeds three modules: the order in which its gradient is added up shows in the last bit."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.a, self.b, self.c = nn.Linear(16, 4), nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.first(x))
        return self.a(h) + torch.sin(self.b(h)) * self.c(h)


class Shared(nn.Module):
    """One tensor enters a module that uses it in four places, and is used beside it."""

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x + self.a(x) * torch.sigmoid(self.b(x))

    def __init__(self) -> None:
        super().__init__()
        self.first, self.inner, self.head = nn.Linear(8, 16), self.Inner(), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.first(x))
        return self.head(h + self.inner(h) * torch.sin(h))


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        return self.proj(out.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), SelfAttention(width, heads, dropout)
        self.norm2, self.drop = nn.LayerNorm(width), nn.Dropout(dropout)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.drop(self.mlp(self.norm2(x)))


class Transformer(nn.Module):
    """`checkpointing`: None, "reentrant" or "plain"; `tied`: input and output embeddings are one parameter."""

    def __init__(self, dropout: float = 0.1, checkpointing: str | None = None, tied: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, 16)
        self.blocks = nn.ModuleList(Block(16, 2, dropout) for _ in range(2))
        self.head = nn.Linear(16, 8, bias=False)
        if tied:
            self.head.weight = self.embed.weight
        self.checkpointing = checkpointing

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = (x.abs() * 3).long().clamp(max=7)
        h = self.embed(tokens)
        for block in self.blocks:
            if self.checkpointing and self.training:
                h = checkpoint(block, h, use_reentrant=self.checkpointing == "reentrant")
            else:
                h = block(h)
        return self.head(h).mean(1)[:, :4]


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.GRU(1, 8, batch_first=True), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(x[..., None])[0][:, -1])


class Training:
    """One training that can be run with and without a monitor."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        micros: int = 1,
        autocast: bool = False,
        optimizers: int = 1,
        optimizer: Callable[..., Any] = torch.optim.AdamW,
    ) -> None:
        self.make, self.micros, self.autocast, self.optimizers = make, micros, autocast, optimizers
        self.optimizer = optimizer

    def build(self, seed: int) -> tuple[nn.Module, list[Any]]:
        torch.manual_seed(seed)
        model = self.make()
        parameters = list(model.parameters())
        if self.optimizers == 1:
            return model, [self.optimizer(parameters, lr=1e-2)]
        half = len(parameters) // 2
        return model, [self.optimizer(parameters[:half], lr=1e-2), torch.optim.SGD(parameters[half:], lr=1e-2)]

    def run(self, seed: int, steps: int, watch: Callable[[nn.Module, list[Any], int], Any] | None = None) -> bytes:
        """Trains; returns the bytes of all weights, buffers, optimizer states and the RNG state."""
        model, optimizers = self.build(seed)
        monitor = watch(model, optimizers, self.micros) if watch else None
        data = torch.Generator().manual_seed(seed + 1000)
        loss = torch.zeros(())
        for step in range(steps):
            for optimizer in optimizers:
                optimizer.zero_grad()
            for _ in range(self.micros):
                x = torch.randn(4, 8, generator=data)
                y = torch.randint(0, 4, (4,), generator=data)
                with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
                    loss = F.cross_entropy(model(x).float(), y) / self.micros
                loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            if monitor is not None:
                monitor.log({"loss": loss}, step=step)
        if monitor is not None:
            monitor.close()
        parts = [t.detach().float().numpy().tobytes() for t in model.state_dict().values()]
        for optimizer in optimizers:
            for state in optimizer.state.values():
                parts += [v.detach().numpy().tobytes() for v in state.values() if isinstance(v, torch.Tensor)]
        return b"".join(parts) + torch.get_rng_state().numpy().tobytes()


TRAININGS: dict[str, Training] = {
    "mlp": Training(Mlp),
    "cnn, batch norm, in-place relu": Training(Cnn),
    "three consumers": Training(ThreeConsumers),
    "a shared input": Training(Shared),
    "transformer with dropout": Training(Transformer),
    "tied embeddings": Training(lambda: Transformer(tied=True)),
    "reentrant checkpointing": Training(lambda: Transformer(checkpointing="reentrant")),
    "plain checkpointing": Training(lambda: Transformer(checkpointing="plain")),
    "autocast bf16": Training(Transformer, autocast=True),
    "gradient accumulation": Training(Transformer, micros=3),
    "two optimizers": Training(Mlp, optimizers=2),
    "gru": Training(Gru),
}
