// SPDX-License-Identifier: GPL-3.0-or-later
// Writes to a data directory for ever, printing each acknowledged batch; capsulekilltest kills it.
#include <cstdio>
#include <cstdlib>

#include "capsulecontent.h"
#include "killpattern.h"

int main(int, char** argv)
{
    using namespace telltale;
    using namespace telltale::store::test;
    store::StoreOptions options;
    options.commitMs = 3;
    options.commitBatches = 7;
    Recorder recorder(argv[1], options);
    const auto opened = recorder.open(makeRequest("kill", 42));
    const auto tensors = killTensors();
    const auto scalars = killScalars();
    std::uint64_t seq = opened.durableSeq;
    std::uint64_t acked = seq;
    std::printf("%llu\n", static_cast<unsigned long long>(acked));
    for (;;) {
        while (seq < acked + 40) {
            ++seq;
            std::vector<StepBlock> blocks;
            for (int i = 0; i < kKillSteps; ++i) {
                const std::int64_t step = static_cast<std::int64_t>(seq - 1) * kKillSteps + i;
                blocks.push_back(makeBlock(tensors, step, killValue));
                blocks.push_back(makeBlock(scalars, step, killValue));
            }
            recorder.send(opened.stream, seq, std::move(blocks));
        }
        recorder.events.clear();
        recorder.collect();
        for (const auto& event : recorder.events) {
            const auto* durable = std::get_if<store::StreamDurable>(&event);
            if (durable && durable->seq > acked) {
                acked = durable->seq;
                std::printf("%llu\n", static_cast<unsigned long long>(acked));
                std::fflush(stdout);
            }
        }
    }
}
