// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include <QApplication>
#include <QTemporaryDir>
#include <QWidget>
#include <QtTest>

#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "../store/capsulebuilder.h"

namespace telltale::test {

/// Answers come to the thread of the test, as long as it has the pool.
inline void answerHere(std::unique_ptr<store::QueryPool>& pool)
{
    pool->setWake([&pool] {
        QMetaObject::invokeMethod(
            qApp,
            [&pool] {
                if (pool)
                    pool->deliver();
            },
            Qt::QueuedConnection);
    });
}

/// A view of one run that stands in a file, in a window that nobody sees. A test class has it as a base, opens a run in
/// its init() and calls close() in its cleanup(). Thread: the test's.
template <typename View> class ViewOnRun {
protected:
    ViewOnRun() { translations::install(*qApp, QStringLiteral("en")); }
    void openFile(const std::string& path, views::SteeringState* steering = nullptr)
    {
        m_pool = std::make_unique<store::QueryPool>(1);
        answerHere(m_pool);
        m_state = std::make_unique<views::ViewState>();
        m_axis = std::make_unique<views::SharedAxis>(m_state.get());
        m_host = std::make_unique<QWidget>();
        m_host->resize(1080, 700);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        m_view = new View({ m_state.get(), m_axis.get(), m_pool.get(), steering }, m_host.get());
        m_view->resize(1080, 700);
        const auto run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path), "abc123", "gpt", nullptr });
        const auto catalog = CapsuleBuilder::must(CapsuleBuilder::must(store::openReader(*run))->catalog());
        m_state->setRun(run);
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_host->show();
    }
    void close()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }
    void settle() { QTRY_VERIFY(m_view->isSettled()); }
    std::string path(const std::string& name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }

    std::unique_ptr<views::ViewState> m_state;
    std::unique_ptr<QWidget> m_host;
    View* m_view = nullptr;

private:
    QTemporaryDir m_dir;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<views::SharedAxis> m_axis;
};

}
