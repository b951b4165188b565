// SPDX-License-Identifier: GPL-3.0-or-later
// How many frames a second a person sees in each view while a run streams into it: a mouse moves over the view, and
// each sixtieth of a second has its picture in time or is a frame that was not shown.
#include <atomic>
#include <chrono>
#include <thread>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QTemporaryDir>
#include <QTimer>

#include <telltale/common/dataview.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/viewstate.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "report.h"
#include "training.h"

namespace telltale::bench {
namespace {

constexpr int kRanks = 4, kHistory = 2000, kStepsASecond = 10, kSeconds = 3, kWaitMs = 120'000;
constexpr double kFrameMs = 1000.0 / 60;

template <typename Done> void waitFor(Done done)
{
    QElapsedTimer clock;
    clock.start();
    QTimer beat;
    beat.setTimerType(Qt::PreciseTimer);
    beat.start(1);
    while (!done()) {
        if (clock.elapsed() > kWaitMs)
            qFatal("what is waited for does not come");
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

/// Four ranks that train at ten steps a second after a history at full speed, on a thread of its own.
class Feeder {
public:
    Feeder(store::StoreService& service, std::vector<StreamId> streams)
        : m_thread([this, &service, streams = std::move(streams)] { feed(service, streams); })
    {
    }
    ~Feeder()
    {
        m_ends = true;
        m_thread.join();
    }

private:
    void feed(store::StoreService& service, const std::vector<StreamId>& streams)
    {
        Training training;
        for (std::int64_t step = 0; !m_ends; ++step) {
            for (std::size_t rank = 0; rank < streams.size(); ++rank) {
                auto batch = std::make_shared<SampleBatch>();
                batch->stream = streams[rank];
                batch->seq = static_cast<std::uint64_t>(step) + 1;
                batch->payload = "payload";
                batch->layouts = training.layouts();
                training.append(*batch, step, static_cast<int>(rank));
                for (const StepBlock& block : batch->blocks)
                    batch->samples += sampleCount(block);
                while (!m_ends && !service.submit(batch))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            if (step >= kHistory)
                std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kStepsASecond));
        }
    }

    std::atomic<bool> m_ends = false;
    std::thread m_thread; ///< last: it uses the others
};

/// The largest plot of the view that is seen, or the view itself where it has none.
QWidget* canvasOf(QWidget* view)
{
    QWidget* largest = view;
    int area = 0;
    for (auto* canvas : view->findChildren<views::PlotCanvas*>()) {
        if (canvas->isVisible() && canvas->width() * canvas->height() > area) {
            largest = canvas;
            area = canvas->width() * canvas->height();
        }
    }
    return largest;
}

/// Whether a widget was painted since it was asked.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(QWidget* widget) { widget->installEventFilter(this); }
    bool takePainted() { return std::exchange(m_isPainted, false); }
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        m_isPainted = m_isPainted || event->type() == QEvent::Paint;
        return QObject::eventFilter(watched, event);
    }

private:
    bool m_isPainted = false;
};

double framesASecond(QWidget* view)
{
    QWidget* canvas = canvasOf(view);
    PaintWatch watch(canvas);
    QElapsedTimer clock;
    clock.start();
    const auto nowMs = [&clock] { return static_cast<double>(clock.nsecsElapsed()) / 1e6; };
    int shown = 0;
    for (int frame = 0; frame < kSeconds * 60;) {
        const double due = frame * kFrameMs;
        waitFor([&] { return nowMs() >= due; });
        const QPointF at(canvas->width() * (0.3 + 0.4 * frame / (kSeconds * 60)), canvas->height() / 2.0);
        QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(canvas, &move);
        canvas->update();
        watch.takePainted();
        waitFor([&watch] { return watch.takePainted(); });
        shown += nowMs() < due + kFrameMs ? 1 : 0;
        frame = std::max(frame + 1, static_cast<int>(nowMs() / kFrameMs));
    }
    return static_cast<double>(shown) / kSeconds;
}

std::vector<StreamId> openedStreams(store::StoreService& service)
{
    for (int rank = 0; rank < kRanks; ++rank) {
        store::StreamRequest request;
        request.token = static_cast<std::uint64_t>(rank) + 1;
        request.runKey = request.runName = "frames";
        request.agentId = "host/" + std::to_string(rank);
        request.rank = Rank { rank };
        request.incarnation = 1;
        service.openStream(request);
    }
    std::vector<StreamId> streams;
    waitFor([&] {
        for (const store::StoreEvent& event : service.takeEvents()) {
            if (const auto* opened = std::get_if<store::StreamOpened>(&event))
                streams.push_back(opened->stream);
        }
        return streams.size() == kRanks;
    });
    return streams;
}

}

void benchFrames(Report& report)
{
    const QTemporaryDir dir;
    store::QueryPool pool(2);
    auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
    if (!service)
        qFatal("%s", service.error().sentence().c_str());
    shell::AppContext context;
    context.store = service->get();
    context.queries = &pool;
    context.dataDir = dir.path().toStdString();
    shell::MainWindow window(context);
    window.resize(1600, 1000);
    window.show();
    const Feeder feeder(**service, openedStreams(**service));
    waitFor([&] { return window.state()->fullRange().last.value >= kHistory; });
    std::vector<views::ModuleKey> chosen;
    for (int i = 0; i < 4; ++i)
        chosen.push_back({ QString::fromStdString(Training::tensorName(i)) });
    window.state()->setSelection(chosen);
    for (const shell::ViewFactory& row : shell::viewFactories()) {
        if (!row.rendered || row.needsOthers) // nothing is compared here
            continue;
        window.views()->setCurrent(QLatin1String(row.id));
        views::DataView* view = window.views()->currentView();
        waitFor([view] { return view->isSettled(); });
        report.add({ std::string("frames_live_") + row.id, framesASecond(view), "1/s", "a display's", 60, 0.95, true });
    }
}

}
