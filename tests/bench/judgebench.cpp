// SPDX-License-Identifier: GPL-3.0-or-later
// What the rules cost: a run of 6,000 tensors that is judged again, against reading it alone; and how long a threshold
// that somebody moves in the rule lab takes to show what it does.
#include <QTemporaryDir>

#include <telltale/judge/runjudge.h>
#include <telltale/lab/replay.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/runreader.h>

#include "report.h"
#include "workload.h"

namespace telltale::bench {
namespace {

constexpr int kTensors = 6000;
constexpr int kSteps = 1680; // 10 M samples
constexpr int kChunk = 256;
constexpr int kBatch = 60;

template <typename T> T must(Expected<T> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    if constexpr (!std::is_void_v<T>)
        return std::move(*value);
}

store::RunHandle writeTraining(const std::string& path)
{
    store::LiveRun live;
    store::RunMeta meta;
    meta.storeId = path;
    meta.runId = meta.runKey = meta.name = "judged";
    auto writer = must(store::CapsuleWriter::create(path, meta, live));
    store::StreamRequest request;
    request.agentId = "bench";
    request.incarnation = 1;
    const std::int64_t stream = must(writer->book().addStream(request, 0));
    Workload workload(kTensors);
    static_assert(kSteps % kBatch == 0);
    for (int step = 0; step < kSteps;) {
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = StreamId { stream };
        batch->layouts = { workload.layout() };
        for (int i = 0; i < kBatch; ++i, ++step)
            batch->blocks.push_back(workload.next());
        batch->seq = static_cast<std::uint64_t>(step / kBatch);
        if (const std::string conflict = must(writer->stage(stream, std::move(batch))); !conflict.empty())
            qFatal("%s", conflict.c_str());
        must(writer->commit());
    }
    must(writer->finish(store::RunState::Finished));
    writer->tidyUp();
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(path);
    return handle;
}

}

void benchJudge(Report& report)
{
    const QTemporaryDir dir;
    const store::RunHandle run = writeTraining(dir.path().toStdString() + "/run.telltale");
    std::uint64_t judged = 0;
    const auto times = threadMedians(3,
        { [&] {
             const auto reader = must(store::openReader(run));
             judge::RunJudge judge;
             must(judge.judgeAll(*reader));
             judged = judge.judged();
         },
            [&] {
                const auto reader = must(store::openReader(run));
                const auto catalog = must(reader->catalog());
                series::HeatQuery query;
                for (const series::RowIndex::Row& row : catalog->rows->rows())
                    query.rows.push_back(row.attempts);
                for (int first = 0; first < kSteps; first += kChunk) {
                    query.range = { Step { first }, Step { std::min(first + kChunk, kSteps) - 1 } };
                    query.pixels = static_cast<int>(query.range.count());
                    must(reader->heatmap(query));
                }
            } });
    const double values = static_cast<double>(kTensors) * kSteps;
    if (judged < static_cast<std::uint64_t>(values))
        qFatal("not every value was judged");
    report.add({ "judge again, 6,000 tensors (cpu)", values / times[0] / 1e6, "M values/s", "reading them alone",
        values / times[1] / 1e6, 0.2, true });
    report.add(
        { "judge again, beside the goal (cpu)", values / times[0] / 1e6, "M values/s", "the goal", 20.0, 1, true });
    lab::LabRun run10M;
    const auto reader = must(store::openReader(run));
    must(run10M.replay(*reader, dir.path().toStdString(), nullptr));
    double z = 6;
    const auto moved = threadMedians(3, { [&] {
        judge::Rules rules;
        rules.setValue(judge::Rule::Level, 0, z += 0.5);
        if (must(run10M.replay(*reader, dir.path().toStdString(), &rules)).judged < static_cast<std::uint64_t>(values))
            qFatal("not every value was judged again");
    } });
    report.add({ "lab: a threshold moved, 10 M samples (cpu)", moved[0] * 1e3, "ms", "a second", 1000.0, 1, false });
    report.add({ "lab: what it keeps of them", static_cast<double>(run10M.bytes()) / values, "B/sample",
        "a sample as it is stored unpacked", 8.0, 1, false });
    report.add({ "judge a step of 6,000 tensors (cpu)", times[0] / kSteps * 1e3, "ms", "the budget of a step", 1.0, 1,
        false });
}

}
