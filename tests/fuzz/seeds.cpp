// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

#include "storeseeds.h"

using namespace telltale;
using namespace telltale::protocol;

namespace {

bool save(const std::filesystem::path& path, const std::string& bytes)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return out.good();
}

std::string payload(Kind kind, std::vector<Stat> stats, std::size_t series, int steps)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = kind;
    layout->stats = std::move(stats);
    for (std::size_t i = 0; i < series; ++i) {
        SeriesDesc desc;
        desc.name.assign(1 + i % 5, static_cast<char>('a' + i % 26));
        desc.shape = { 4, 4 };
        layout->series.push_back(std::move(desc));
    }
    PayloadBuilder builder;
    builder.addLayout(*layout);
    for (int s = 0; s < steps; ++s) {
        StepBlock block;
        block.layout = layout;
        block.step = Step { s };
        block.wallNs = s;
        for (const Stat stat : layout->stats) {
            if (stat == Stat::Value)
                block.columns.push_back({ stat, std::vector<double>(series, 0.5 + s) });
            else if (isWhole(stat))
                block.columns.push_back({ stat, std::vector<std::uint64_t>(series, static_cast<std::uint64_t>(s)) });
            else
                block.columns.push_back({ stat, std::vector<float>(series, 0.25f * static_cast<float>(s + 1)) });
        }
        if (s % 2 == 1) {
            block.present.assign((series + 63) / 64, 0x5555555555555555u);
            block.callIds.assign(series, static_cast<std::uint32_t>(s));
        }
        builder.addBlock(block);
    }
    builder.addBlob({ "b", 0, 1, "stack", "n", Step { 1 }, "text" });
    builder.addEvent({ "log", Step { 1 }, 2, "t", "{}" });
    builder.addDrop({ 2, Step { 1 }, Step { 2 }, 3, 4, "ring full" });
    return builder.finish();
}

const std::pair<const char*, const char*> kConfigs[] {
    { "targets", R"({"targets": {"1:layers.0": {"input": "tuple[2]:1"}, "*.norm": {}}, "ops": ["norm", "nans"],})" },
    { "alert",
        R"({"alert": {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}], "dump": true}})" },
    { "gates", R"({"start_step": 3, "step_interval": 2, "collect_times": 9, "format": ["csv"], "eps": 1e-8, // why
 "append_output": ["Dec03_21-34-40", "Dec03_21-34-41"], "module_ranks": [0, 1]})" },
    { "collectives", R"({"cc_distribution": {"enable": true, "cc_codeline": ["a.py[1]"], "cc_pre_hook": false}})" },
    { "telltale",
        R"({"telltale": {"actv_grad_input": "total", "threads": 3, "of_a_later_version": [[], {"a": 1e3}]}})" },
};

}

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::cerr << "usage: fuzz_seeds CORPUS_DIRECTORY\n";
        return 2;
    }
    const std::filesystem::path root = argv[1];
    const std::vector<Message> messages { Hello {}, Welcome { 1, { "a" }, "s", 1, 2, 3, 4, 5, 6 },
        Batch { 1, 2, 3, "payload" }, Ack { 1, 2, 3, { { 1, "why" } } }, Nack { 1 },
        Heartbeat { { 1, 2 }, 3, 4, 5, { 0, 1, 2 }, 6, 7, true, { 8, 9, 10 } }, ConfigOffer { 1, "{}", "h", 2 },
        ConfigStatus { 1, 2, "r", 3, "h", "{}" }, Bye { "finished", 1, 2 }, Knock { std::string(32, 1) },
        Challenge { std::string(32, 2), std::string(32, 3) }, RecorderAsk { "w" },
        ControlHello { 1, 1, "p", std::string(32, 4) }, ImportRun { "a.telltale", 5 }, RunPart { "bytes" },
        RunTaken { 5 }, FindStream { Hello {} }, ControlReply { "e", "t", "r", "c", { "d" }, "a" },
        NoteWrite { "r", { telltale::Step { 1 }, telltale::Step { 2 } }, "t", "a", 1, 2, true },
        ConfigAsk { "r", 1, 2 }, ConfigPush { { "r", "{}", { telltale::Rank { 1 } }, 2, "a" } },
        ConfigState { { "r", 1, "{}", "a", 2, 3, { telltale::Rank { 1 } },
            { { telltale::Rank { 1 }, "h", telltale::RankSteering::State::Applied, 1, 2, 3, "why", 1, "{}" } } } } };
    bool ok = true;
    for (std::size_t i = 0; i < messages.size(); ++i)
        ok = save(root / "fuzz_decoder" / ("message" + std::to_string(i)), encodeMessage(messages[i])) && ok;
    const std::vector<Stat> six { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs,
        Stat::NegInfs };
    ok = save(root / "fuzz_decoder" / "six_ops", payload(Kind::GradReduced, six, 5, 1)) && ok;
    ok = save(root / "fuzz_decoder" / "six_ops_steps", payload(Kind::Actv, six, 40, 4)) && ok;
    ok = save(root / "fuzz_decoder" / "scalars", payload(Kind::Scalar, { Stat::Value }, 3, 3)) && ok;
    ok = save(root / "fuzz_decoder" / "checksums", payload(Kind::Comm, { Stat::Checksum }, 9, 2)) && ok;
    ok = save(root / "fuzz_rules" / "receive", std::string("\0\0\1\377\0\0\0\0\1\0\0\0\10\0\0\2\1\144\1\1\0\1\5", 24))
        && ok;
    ok = save(root / "fuzz_rules" / "send",
             std::string("\1\0\0\12\0\12\1\0\1\0\12\12\5\5\2\1\12\12\3\1\4\1\1\1\0\12\12", 27))
        && ok;
    for (const auto& [name, text] : kConfigs)
        ok = save(root / "fuzz_config" / name, text) && ok;
    for (const auto& [path, bytes] : fuzz::storeSeeds())
        ok = save(root / path, bytes) && ok;
    return ok ? 0 : 1;
}
