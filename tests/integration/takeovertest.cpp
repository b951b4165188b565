// SPDX-License-Identifier: GPL-3.0-or-later
// A window that was started while another program held the data directory, or the port, takes over from it.
#include <QLabel>
#include <QRegularExpression>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/common/annotator.h>
#include <telltale/runs/joinfield.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/mainwindow.h>

#include "backend.h"
#include "desktop.h"

using namespace telltale;

class TakeOverTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
    }

    void aWindowTakesTheFolderThatAnotherLeaves()
    {
        auto first = start("data", "127.0.0.1:0");
        QVERIFY(first->server() != nullptr);
        const auto second = start("data", "127.0.0.1:0");
        QVERIFY(second->store() == nullptr && second->isWaiting());
        app::Desktop desktop(*second);
        desktop.window().show();
        QVERIFY2(said(desktop).contains(QStringLiteral("This window records as soon as that has ended.")),
            qPrintable(said(desktop)));
        auto* annotator = desktop.window().findChild<views::Annotator*>();
        QVERIFY(!annotator->write && joinString(desktop).isEmpty());
        QVERIFY2(!second->retry() && second->store() == nullptr, "it took a folder that another one writes to");

        first.reset();
        QTRY_VERIFY_WITH_TIMEOUT(second->server() != nullptr, kWaitMs);
        QVERIFY(!second->isWaiting());
        QVERIFY(annotator->write);
        QCOMPARE(joinString(desktop), second->server()->joinString());
        QTRY_VERIFY(said(desktop).contains(QStringLiteral("Listening on")));
        const auto third = start("data", "127.0.0.1:0"); // it holds the folder as any other would
        QVERIFY(third->isWaiting() && third->store() == nullptr);
    }

    void aWindowTakesThePortThatAnotherLeaves()
    {
        auto other = std::make_unique<QTcpServer>();
        QVERIFY(other->listen(QHostAddress::LocalHost));
        const auto backend = start("data", "127.0.0.1:" + std::to_string(other->serverPort()));
        QVERIFY(backend->store() != nullptr && backend->server() == nullptr && backend->isWaiting());
        app::Desktop desktop(*backend);
        desktop.window().show();
        QVERIFY(said(desktop).contains(QStringLiteral("the port is held by")));
        QVERIFY2(
            desktop.window().findChild<views::Annotator*>()->write, "what needs the store alone waits for the port");

        other.reset();
        QTRY_VERIFY_WITH_TIMEOUT(backend->server() != nullptr, kWaitMs);
        QTRY_VERIFY(said(desktop).contains(QStringLiteral("Listening on")));
    }

    void whatCannotPassIsNotWaitedFor()
    {
        const auto backend = start("data", "nowhere:1:2:3");
        QVERIFY(backend->server() == nullptr && !backend->isWaiting());
        app::Desktop desktop(*backend);
        QVERIFY(!said(desktop).contains(QStringLiteral("as soon as")));
    }

private:
    static constexpr int kWaitMs = 30'000;

    std::unique_ptr<app::Backend> start(const char* folder, const std::string& listen) const
    {
        auto backend = app::Backend::start({ m_dir->filePath(QLatin1String(folder)).toStdString(), listen, false });
        if (!backend)
            qFatal("%s", backend.error().sentence().c_str());
        return std::move(*backend);
    }
    static QString said(app::Desktop& desktop)
    {
        QString all;
        for (const QLabel* label :
            desktop.window().findChild<QWidget*>(QStringLiteral("statusLine"))->findChildren<QLabel*>())
            all += label->text() + u'\n' + label->toolTip() + u'\n'; // which has the whole of what is cut
        return all;
    }
    static QString joinString(app::Desktop& desktop)
    {
        const auto* panel = desktop.window().findChild<QWidget*>(QStringLiteral("connectionsPanel"));
        return panel->findChild<views::JoinField*>()->joinString();
    }

    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_MAIN(TakeOverTest)
#include "takeovertest.moc"
