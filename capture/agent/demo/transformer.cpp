// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/transformer.h>

#include <cmath>
#include <limits>
#include <utility>

namespace telltale::demo {
namespace {

constexpr double kWeightSpread = 0.02; ///< GPT-2's initialization

torch::nn::LayerNorm norm(int width)
{
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({ width }));
}

}

Attention::Attention(const ModelShape& shape, std::string name)
    : torch::nn::Module("Attention")
    , m_name(std::move(name))
    , m_qkvName(m_name + ".qkv")
    , m_projName(m_name + ".proj")
    , m_heads(shape.heads)
    , m_qkv(shape.width, 3 * shape.width)
    , m_proj(shape.width, shape.width)
    , m_dropout(shape.dropout)
{
    register_module("qkv", m_qkv);
    register_module("proj", m_proj);
    register_module("drop", m_dropout);
}

torch::Tensor Attention::forward(const torch::Tensor& x, const torch::Tensor& mask, Probe& probe)
{
    const auto batch = x.size(0);
    const auto length = x.size(1);
    const auto width = x.size(2);
    const auto qkv = probe.output(m_qkvName, m_qkv(x))
                         .view({ batch, length, 3, m_heads, width / m_heads })
                         .permute({ 2, 0, 3, 1, 4 });
    auto query = qkv[0];
    auto key = qkv[1];
    const auto scale = probe.attention(m_name, query, key, 1.0 / std::sqrt(static_cast<double>(width) / m_heads));
    const auto scores = torch::matmul(query, key.transpose(-2, -1)) * scale + mask;
    const auto weights = m_dropout(torch::softmax(scores, -1));
    const auto mixed = torch::matmul(weights, qkv[2]).transpose(1, 2).reshape({ batch, length, width });
    return probe.output(m_name, probe.output(m_projName, m_proj(mixed)));
}

Mlp::Mlp(const ModelShape& shape, std::string name)
    : torch::nn::Module("Mlp")
    , m_name(std::move(name))
    , m_fc1Name(m_name + ".fc1")
    , m_fc2Name(m_name + ".fc2")
    , m_fc1(shape.width, 4 * shape.width)
    , m_fc2(4 * shape.width, shape.width)
    , m_dropout(shape.dropout)
{
    register_module("fc1", m_fc1);
    register_module("fc2", m_fc2);
    register_module("drop", m_dropout);
}

torch::Tensor Mlp::forward(const torch::Tensor& x, Probe& probe)
{
    const auto hidden = torch::gelu(probe.output(m_fc1Name, m_fc1(x)));
    return probe.output(m_name, m_dropout(probe.output(m_fc2Name, m_fc2(hidden))));
}

Block::Block(const ModelShape& shape, std::string name)
    : torch::nn::Module("Block")
    , m_name(std::move(name))
    , m_ln1Name(m_name + ".ln1")
    , m_ln2Name(m_name + ".ln2")
    , m_ln1(norm(shape.width))
    , m_attention(std::make_shared<Attention>(shape, m_name + ".attn"))
    , m_ln2(norm(shape.width))
    , m_mlp(std::make_shared<Mlp>(shape, m_name + ".mlp"))
{
    register_module("ln1", m_ln1);
    register_module("attn", m_attention);
    register_module("ln2", m_ln2);
    register_module("mlp", m_mlp);
}

torch::Tensor Block::forward(torch::Tensor x, const torch::Tensor& mask, Probe& probe)
{
    x = x + m_attention->forward(probe.output(m_ln1Name, m_ln1(x)), mask, probe);
    x = x + m_mlp->forward(probe.output(m_ln2Name, m_ln2(x)), probe);
    return probe.output(m_name, x);
}

Transformer::Transformer(const ModelShape& shape)
    : torch::nn::Module("Transformer")
    , m_tokens(shape.vocabulary, shape.width)
    , m_positions(shape.window, shape.width)
    , m_dropout(shape.dropout)
    , m_lastNorm(norm(shape.width))
    , m_head(torch::nn::LinearOptions(shape.width, shape.vocabulary).bias(false))
    , m_mask(torch::full({ shape.window, shape.window }, -std::numeric_limits<float>::infinity()).triu(1))
    , m_places(torch::arange(shape.window))
{
    register_module("tok_emb", m_tokens);
    register_module("pos_emb", m_positions);
    register_module("drop", m_dropout);
    torch::nn::ModuleList layers;
    for (int i = 0; i < shape.layers; ++i) {
        m_layers.push_back(std::make_shared<Block>(shape, "layers." + std::to_string(i)));
        layers->push_back(m_layers.back());
    }
    register_module("layers", layers);
    register_module("ln_f", m_lastNorm);
    register_module("head", m_head);

    torch::NoGradGuard noGrad;
    for (auto& entry : named_parameters()) {
        const auto& name = entry.key();
        if (name.ends_with(".bias"))
            entry.value().zero_();
        else if (entry.value().dim() > 1)
            entry.value().normal_(0.0, kWeightSpread);
    }
}

torch::Tensor Transformer::forward(const torch::Tensor& ids, Probe& probe)
{
    const auto length = ids.size(1);
    const auto tokens = probe.output("tok_emb", m_tokens(ids));
    const auto positions = probe.output("pos_emb", m_positions(m_places.slice(0, 0, length)));
    const auto mask = m_mask.slice(0, 0, length).slice(1, 0, length);
    auto x = m_dropout(tokens + positions);
    for (const auto& layer : m_layers)
        x = layer->forward(x, mask, probe);
    return probe.output("head", m_head(probe.output("ln_f", m_lastNorm(x))));
}

}
