// SPDX-License-Identifier: GPL-3.0-or-later
// How long somebody waits who changes what a training collects: from the step that the ranks changed at to the picture.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <QCoreApplication>
#include <QEventLoop>
#include <QTemporaryDir>
#include <QTimer>

#include <telltale/agent/telltale_agent.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/kinds.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/items/runsmodel.h>
#include <telltale/server/captureserver.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/stats/stats.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "report.h"

namespace telltale::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kWaitSeconds = 60;
constexpr int kStepMs = 5;

void waitUntil(const std::function<bool()>& isDone, const char* what)
{
    QTimer beat; // so that the loop turns when nothing else happens
    beat.start(1);
    const auto end = Clock::now() + std::chrono::seconds(kWaitSeconds);
    while (!isDone()) {
        if (Clock::now() > end)
            qFatal("%s", what);
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

/// A rank whose every config that it is given brings one tensor more. Thread: main; it trains on one of its own.
class Trainer {
public:
    explicit Trainer(const QTemporaryDir& dir, const std::string& join)
    {
        const std::string spool = dir.filePath(QStringLiteral("spool")).toStdString();
        tt_options options {};
        options.size = sizeof(options);
        options.join = join.c_str();
        options.run_id = "steered";
        options.spool_dir = spool.c_str();
        options.framework = "none";
        options.world_size = 1;
        options.takes_configs = 1;
        std::array<char, 512> error {};
        m_agent = tt_agent_open(&options, error.data(), error.size());
        if (m_agent == nullptr)
            qFatal("%s", error.data());
        tt_config_in_force(m_agent, 0, 0, R"({"dynamic_on": true})", "");
        m_thread = std::thread([this] { train(); });
    }
    ~Trainer()
    {
        m_isOver = true;
        m_thread.join();
        tt_agent_close(m_agent, "finished");
    }
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// When the newest step began that measured something new, since the clock's epoch; 0 = none yet.
    Clock::duration newestBegan() const { return Clock::duration(m_began.load()); }

private:
    void train()
    {
        addTensor();
        for (std::int64_t number = 0; !m_isOver; ++number) {
            const auto begin = Clock::now();
            if (const tt_config* due = tt_config_due(m_agent, number)) {
                addTensor();
                tt_config_in_force(m_agent, due->rev, number, due->json, "");
                m_began = begin.time_since_epoch().count();
            }
            if (tt_step* step = tt_step_begin(m_agent, number)) {
                for (const std::uint32_t layout : m_layouts) {
                    if (tt_stats* stats = tt_step_stats(step, layout)) {
                        stats->norm = 1;
                        stats->flags = TT_STATS_PRESENT;
                    }
                }
                tt_step_commit(step);
            }
            std::this_thread::sleep_until(begin + std::chrono::milliseconds(kStepMs));
        }
    }
    void addTensor()
    {
        const std::string name = "layers." + std::to_string(m_layouts.size()) + ".weight";
        const std::int64_t shape[] = { 3, 4 };
        tt_series one {};
        one.name = name.c_str();
        one.micro_step = -1;
        one.dtype = TT_F32;
        one.numel = 12;
        one.shape = shape;
        one.ndim = 2;
        one.shard_offset = -1;
        m_layouts.push_back(tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::GradReduced), nullptr, 0, &one, 1));
    }

    tt_agent* m_agent = nullptr;
    std::vector<std::uint32_t> m_layouts;
    std::atomic<Clock::rep> m_began { 0 };
    std::atomic<bool> m_isOver { false };
    std::thread m_thread;
};

}

void benchSteering(Report& report)
{
    const QTemporaryDir dir;
    store::QueryPool pool(2);
    auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
    if (!service)
        qFatal("%s", service.error().sentence().c_str());
    server::ServerOptions options;
    options.dataDir = dir.path().toStdString();
    options.listen = "127.0.0.1:0";
    auto server = server::CaptureServer::start(options, **service);
    if (!server)
        qFatal("%s", server.error().sentence().c_str());
    shell::AppContext context;
    context.store = service->get();
    context.queries = &pool;
    context.dataDir = options.dataDir;
    shell::MainWindow window(context);
    window.resize(1600, 1000);
    window.show();
    const Trainer trainer(dir, (*server)->joinString().toStdString());
    const auto& live = window.driver()->runs()->runs(items::RunsModel::LiveGroup);
    waitUntil([&] { return !live.empty(); }, "the run is not listed");
    const std::string id = live.front().id;
    window.driver()->openById(QString::fromStdString(id));
    waitUntil([&] { return window.state()->catalog() != nullptr; }, "the run is not shown");
    window.state()->setKind(Kind::GradReduced);
    window.views()->setCurrent(QStringLiteral("heatmap"));
    auto* view = window.findChild<views::HeatmapView*>();
    bool isDrawn = false;
    QObject::connect(view, &views::DataView::settled, &window, [&] { isDrawn = true; });

    std::vector<double> waits;
    for (std::size_t round = 1; round <= 9; ++round) {
        ConfigRequest request;
        request.runId = id;
        request.config = R"({"dynamic_on": true, "step_interval": )" + std::to_string(round + 1) + "}";
        const auto before = trainer.newestBegan();
        (*server)->offerConfig(request);
        waitUntil([&] { return trainer.newestBegan() != before; }, "no config was taken");
        waitUntil(
            [&] {
                if (window.state()->catalog()->series.size() > round)
                    return true;
                isDrawn = false;
                return false;
            },
            "the new tensor is not known");
        waitUntil([&] { return isDrawn; }, "the new tensor is not drawn");
        waits.push_back(
            std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch() - trainer.newestBegan()).count());
    }
    std::sort(waits.begin(), waits.end());
    report.add({ "steered_step_to_picture_p50", waits[waits.size() / 2], "ms", "what people wait for", 200, 1 });
    report.add({ "steered_step_to_picture_worst", waits.back(), "ms", "what people wait for", 200, 1 });
}

}
