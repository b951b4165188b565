// SPDX-License-Identifier: GPL-3.0-or-later
// What the rules cost while a run is recorded: a step at a time, as the server judges it, beside what the store does
// with that step.
#include <algorithm>

#include <malloc.h>

#include <QTemporaryDir>

#include <telltale/judge/runjudge.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/runreader.h>

#include "report.h"
#include "workload.h"

namespace telltale::bench {
namespace {

constexpr int kTensors = 6000;
constexpr int kSteps = 600;
constexpr int kUnarmed = 100; ///< steps before the rules have seen enough

template <typename T> T must(Expected<T> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    if constexpr (!std::is_void_v<T>)
        return std::move(*value);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::size_t heapBytes()
{
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

}

void benchLiveJudge(Report& report)
{
    const QTemporaryDir dir;
    const auto live = std::make_shared<store::LiveRun>();
    store::RunMeta meta;
    store::RunHandle handle;
    meta.storeId = dir.path().toStdString() + "/run.telltale";
    handle.locator = store::RunLocator::ofFile(meta.storeId);
    handle.live = live;
    meta.runId = meta.runKey = meta.name = "judged";
    auto writer = must(store::CapsuleWriter::create(meta.storeId, meta, *live));
    store::StreamRequest request;
    request.agentId = "bench";
    request.incarnation = 1;
    const std::int64_t stream = must(writer->book().addStream(request, 0));
    Workload workload(kTensors);
    std::unique_ptr<store::RunReader> reader;
    auto judge = std::make_unique<judge::RunJudge>();
    std::vector<double> storing, judging;
    for (int step = 0; step < kSteps; ++step) {
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = StreamId { stream };
        batch->layouts = { workload.layout() };
        batch->blocks.push_back(workload.next());
        batch->seq = static_cast<std::uint64_t>(step) + 1;
        storing.push_back(threadSeconds([&] {
            if (const std::string conflict = must(writer->stage(stream, std::move(batch))); !conflict.empty())
                qFatal("%s", conflict.c_str());
            must(writer->commit());
        }));
        if (!reader)
            reader = must(store::openReader(handle));
        judging.push_back(threadSeconds([&] { must(judge->advance(*reader, { Step { step }, Step { step } })); }));
    }
    if (judge->judged() < static_cast<std::uint64_t>(kTensors) * kSteps)
        qFatal("not every value was judged");
    storing.erase(storing.begin(), storing.begin() + kUnarmed);
    judging.erase(judging.begin(), judging.begin() + kUnarmed);
    report.add({ "judge a live step of 6,000 tensors (cpu)", median(judging) * 1e3, "ms", "the budget of a step", 1.0,
        1, false });
    report.add({ "judge a live step, beside storing it (cpu)", median(judging) * 1e3, "ms", "what the store takes",
        median(storing) * 1e3, 1, false });
    const std::size_t before = heapBytes();
    judge.reset();
    report.add({ "judging keeps of a series and rule",
        static_cast<double>(before - heapBytes()) / kTensors / judge::kRuleCount, "B", "the budget", 64, 1, false });
}

}
