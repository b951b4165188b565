// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <telltale/core/histogram.h>

#include "../store/capsulebuilder.h"

namespace telltale::test {

/// A small run with something for every view: norms and histograms of gradients, attention, one collective with its
/// call site, the model's structure. 2 ranks, a step that has a NaN. `change`: how far its numbers are from those of
/// another one. Thread: the test's.
class ManyKindsCapsule {
public:
    static constexpr int kSteps = 40;
    static constexpr int kLayers = 3;
    static constexpr int kHeads = 4;
    static constexpr int kBad = 25; ///< of layers.1 on rank 1
    static constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

    static void write(const std::string& path, const std::string& id, float change = 0)
    {
        CapsuleBuilder builder(path, "many-" + id, id);
        const std::vector<std::string> names = modules(".mlp.weight");
        const auto norms = builder.addLayout(Kind::GradReduced, { Stat::Norm, Stat::Nans }, names);
        auto histograms = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::GradReduced, { Stat::Hist }, names));
        histograms->edges.assign(octaveEdges().begin(), octaveEdges().end());
        for (SeriesDesc& one : histograms->series)
            one.definition = "elements a bin"; // as agents tell them apart
        auto attention = std::make_shared<SeriesLayout>(
            *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax }, {}));
        for (int i = 0; i < kLayers * kHeads; ++i) {
            SeriesDesc series;
            series.name = "layers." + std::to_string(i / kHeads) + ".attn";
            series.slot = Slot::ofHead(i % kHeads);
            series.shape = { kHeads, kHeads, 16, 16 };
            series.numel = 16;
            series.definition = "mean over all 16 queries";
            attention->series.push_back(std::move(series));
        }
        auto comm = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Comm, { Stat::Norm }, { kSite, kSite }));
        comm->series[0].slot = { Role::Before, 0 };
        comm->series[1].slot = { Role::After, 0 };
        for (int rank = 0; rank < 2; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0, "host", { rank, 0, 0, -1 });
            std::vector<StepBlock> blocks;
            for (int step = 0; step < kSteps; ++step) {
                const float shift = 0.01F * static_cast<float>(step) + change + static_cast<float>(rank);
                blocks.push_back(normsOf(norms, step, rank, shift));
                blocks.push_back(countsOf(histograms, step, rank));
                blocks.push_back(blockOf(attention, step,
                    { { Stat::Entropy, rising(kLayers * kHeads, 1 + 0.1F * shift) },
                        { Stat::SoftmaxMax, rising(kLayers * kHeads, 0.1F + 0.01F * shift) } }));
                blocks.push_back(blockOf(comm, step, { { Stat::Norm, rising(2, 5 + shift) } }));
            }
            std::vector<Blob> blobs { blobOf("comm_sites", "rank" + std::to_string(rank), kSites) };
            if (rank == 0)
                blobs.push_back(blobOf("structure", "model", kStructure));
            builder.stage(stream, std::move(blocks), {}, {}, std::move(blobs));
            builder.commit();
        }
        builder.releaseAll();
        builder.finish();
    }

    static std::vector<std::string> modules(const std::string& suffix)
    {
        std::vector<std::string> names;
        for (int layer = 0; layer < kLayers; ++layer)
            names.push_back("layers." + std::to_string(layer) + suffix);
        return names;
    }

private:
    static constexpr const char* kSite = "all_reduce (train.py[55] reduce)";
    static constexpr const char* kSites = R"x({"sites":[{"name":"all_reduce (train.py[55] reduce)","op":"all_reduce",)x"
                                          R"x("line":"/w/train.py[55]   reduce","stack":["/w/train.py[55]   reduce"],)x"
                                          R"x("dtypes":["torch.float32"],"groups":[{"name":"0","ranks":2}]}]})x";
    static constexpr const char* kStructure
        = R"({"name":"","type":"GPT","parameters":[],"children":[{"name":"layers","type":"ModuleList","parameters":[],)"
          R"("children":[{"name":"layers.0","type":"Block","parameters":[{"name":"layers.0.mlp.weight","shape":[4,8],)"
          R"("dtype":"float32","trainable":true,"device":"cpu"}],"children":[]}]}]})";

    static StepBlock blockOf(
        const std::shared_ptr<const SeriesLayout>& layout, int step, decltype(StepBlock::columns) columns)
    {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.wallNs = kBegin + step * 300'000'000LL;
        block.columns = std::move(columns);
        return block;
    }
    static std::vector<float> rising(int count, float from)
    {
        std::vector<float> values;
        for (int i = 0; i < count; ++i)
            values.push_back(from * (1 + 0.07F * static_cast<float>(i)));
        return values;
    }
    static StepBlock normsOf(const std::shared_ptr<const SeriesLayout>& layout, int step, int rank, float shift)
    {
        std::vector<float> norm = rising(kLayers, 2 + shift);
        std::vector<std::uint64_t> nans(kLayers);
        if (rank == 1 && step == kBad) {
            norm[1] = std::nanf("");
            nans[1] = 7;
        }
        return blockOf(layout, step, { { Stat::Norm, norm }, { Stat::Nans, nans } });
    }
    static StepBlock countsOf(const std::shared_ptr<const SeriesLayout>& layout, int step, int rank)
    {
        const std::size_t bins = layout->edges.size() - 1;
        std::vector<std::uint64_t> counts(bins * kLayers);
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            for (std::size_t i = 0; i < 12; ++i) // on both sides of zero, and zero itself
                counts[layer * bins + bins / 2 - 6 + i] = i * (layer + 1) + static_cast<std::size_t>(step + rank);
        }
        return blockOf(layout, step, { { Stat::Hist, counts } });
    }
    static Blob blobOf(const std::string& kind, const std::string& name, const std::string& text)
    {
        Blob blob;
        blob.id = kind + name;
        blob.kind = kind;
        blob.name = name;
        blob.bytes = text;
        return blob;
    }
};

}
