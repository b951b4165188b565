// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertservice.h"

#include <telltale/items/guithread.h>
#include <telltale/store/storeservice.h>

#include "alertpost.h"

namespace telltale::notify {

AlertService::AlertService(Options options)
    : m_watch(std::make_unique<alerts::AlertWatch>([this] { post([](AlertPost& post) { post.pump(); }); }))
{
    items::assertGuiThread();
    m_thread.setObjectName(QStringLiteral("alerts"));
    if (!options.say)
        options.say = [](const std::string&) {};
    m_post = new AlertPost(std::move(options.dataDir), *m_watch, options.limits, std::move(options.say));
    m_post->moveToThread(&m_thread);
    connect(m_post, &AlertPost::loaded, this, &AlertService::loaded);
    connect(m_post, &AlertPost::saved, this, &AlertService::saved);
    connect(m_post, &AlertPost::tested, this, &AlertService::tested);
    connect(m_post, &AlertPost::desktopWanted, this, &AlertService::desktopWanted);
    connect(m_post, &AlertPost::consoleWanted, this, &AlertService::consoleWanted);
    connect(m_post, &AlertPost::trayWanted, this, &AlertService::trayWanted);
    connect(m_post, &AlertPost::clicked, this, &AlertService::clicked);
    connect(m_post, &AlertPost::done, &m_thread, &QThread::quit, Qt::DirectConnection);
    connect(&m_thread, &QThread::finished, m_post, &QObject::deleteLater);
    m_thread.start();
    post([](AlertPost& post) { post.start(); });
}

void AlertService::watch(const store::StoreService& store)
{
    items::assertGuiThread();
    m_feed = std::make_unique<judge::IncidentFeed>(store,
        [watch = m_watch.get()](const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news) {
            watch->onIncident(run, incident, news);
        });
}

AlertService::~AlertService()
{
    stop();
}

template <typename Call> void AlertService::post(Call call)
{
    if (!m_thread.isRunning())
        return;
    QMetaObject::invokeMethod(
        m_post, [post = m_post, call = std::move(call)] { call(*post); }, Qt::QueuedConnection);
}

void AlertService::stop()
{
    items::assertGuiThread();
    if (!m_thread.isRunning())
        return;
    m_feed.reset();
    post([](AlertPost& post) { post.finishUp(); });
    m_thread.wait();
}

void AlertService::load()
{
    post([](AlertPost& post) { post.load(); });
}

void AlertService::save(const alerts::AlertSettings& settings)
{
    post([settings](AlertPost& post) { post.save(settings); });
}

void AlertService::test(const alerts::AlertSettings& settings)
{
    post([settings](AlertPost& post) { post.test(settings); });
}

void AlertService::showOnDesktop(const alerts::Alert& alert)
{
    post([alert](AlertPost& post) { post.showOnDesktop(alert); });
}

}
