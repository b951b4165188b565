// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <telltale/demo/probe.h>

namespace telltale::demo {

struct ModelShape {
    int vocabulary = 0;
    int window = 64;
    int layers = 4;
    int heads = 4;
    int width = 160;
    double dropout = 0.1;
};

/// Causal self-attention, "layers.0.attn". Thread: training, as everything in this file.
class Attention : public torch::nn::Module {
public:
    Attention(const ModelShape& shape, std::string name);
    torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask, Probe& probe);

private:
    const std::string m_name;
    const std::string m_qkvName;
    const std::string m_projName;
    const int m_heads;
    torch::nn::Linear m_qkv;
    torch::nn::Linear m_proj;
    torch::nn::Dropout m_dropout;
};

/// Two linear layers with GELU between them, "layers.0.mlp".
class Mlp : public torch::nn::Module {
public:
    Mlp(const ModelShape& shape, std::string name);
    torch::Tensor forward(const torch::Tensor& x, Probe& probe);

private:
    const std::string m_name;
    const std::string m_fc1Name;
    const std::string m_fc2Name;
    torch::nn::Linear m_fc1;
    torch::nn::Linear m_fc2;
    torch::nn::Dropout m_dropout;
};

/// One layer, normalized before each half, "layers.0".
class Block : public torch::nn::Module {
public:
    Block(const ModelShape& shape, std::string name);
    torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask, Probe& probe);

private:
    const std::string m_name;
    const std::string m_ln1Name;
    const std::string m_ln2Name;
    torch::nn::LayerNorm m_ln1;
    std::shared_ptr<Attention> m_attention;
    torch::nn::LayerNorm m_ln2;
    std::shared_ptr<Mlp> m_mlp;
};

/// Decoder-only transformer over characters. Module names: tok_emb, pos_emb, layers.N.{ln1,attn.{qkv,proj},ln2,
/// mlp.{fc1,fc2}}, ln_f, head.
class Transformer : public torch::nn::Module {
public:
    explicit Transformer(const ModelShape& shape);
    /// ids [batch, position] -> logits [batch, position, vocabulary].
    torch::Tensor forward(const torch::Tensor& ids, Probe& probe);

private:
    torch::nn::Embedding m_tokens;
    torch::nn::Embedding m_positions;
    torch::nn::Dropout m_dropout;
    std::vector<std::shared_ptr<Block>> m_layers;
    torch::nn::LayerNorm m_lastNorm;
    torch::nn::Linear m_head;
    torch::Tensor m_mask; ///< [window, window], -inf above the diagonal
    torch::Tensor m_places; ///< 0, 1, ... window - 1
};

}
