// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <memory>

#include <QHeaderView>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTableView>

#include <telltale/common/theme.h>
#include <telltale/items/connectionsmodel.h>
#include <telltale/runs/connectionspanel.h>

namespace connectionstest {

using namespace telltale;

namespace {

/// A window, shown, with the panel of the agents in it. Without a layout: a window with one has size hints, about which
/// the offscreen platform warns.
std::unique_ptr<QWidget> shownWithPanel(int width)
{
    auto host = std::make_unique<QWidget>();
    host->setAttribute(Qt::WA_DontShowOnScreen);
    auto* panel = new views::ConnectionsPanel(host.get());
    panel->resize(width, 220);
    host->show();
    return host;
}

}

/// The table of the agents that are connected. Thread: the test's.
class ConnectionsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }

    void theTableOfAgentsFitsANarrowWindow()
    {
        const auto host = shownWithPanel(840);
        auto& panel = *host->findChild<views::ConnectionsPanel*>();
        ConnectionInfo agent;
        agent.agentId = "node/3";
        agent.peer = "127.0.0.1:5000";
        panel.setConnections({ agent });
        const auto* table = panel.findChild<QTableView*>(QStringLiteral("connectionsTable"));
        QTRY_VERIFY(table->isVisible());
        QTRY_COMPARE(table->horizontalScrollBar()->maximum(), 0);
        QCOMPARE(table->horizontalHeader()->length(), table->viewport()->width());
    }

    void theTableOfAgentsShowsTheWholeNameOfARun()
    {
        const auto host = shownWithPanel(1000);
        auto& panel = *host->findChild<views::ConnectionsPanel*>();
        ConnectionInfo agent;
        agent.agentId = "node/0";
        agent.peer = "127.0.0.1:38412";
        agent.runName = "a";
        panel.setConnections({ agent });
        const auto* table = panel.findChild<QTableView*>(QStringLiteral("connectionsTable"));
        QTRY_VERIFY(table->isVisible());
        ConnectionInfo other = agent;
        other.agentId = "node/1";
        other.runName = "a-run-with-a-longer-name";
        panel.setConnections({ agent, other });
        const int words
            = QFontMetrics(views::wordsFont(12)).horizontalAdvance(QString::fromStdString(other.runName)) + 16;
        QTRY_VERIFY(table->columnWidth(items::ConnectionsModel::RunColumn) >= words);
        QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
        // And one that is called otherwise later.
        agent.runName = "a-run-with-a-name-that-is-longer-still";
        panel.setConnections({ agent, other });
        const int longer
            = QFontMetrics(views::wordsFont(12)).horizontalAdvance(QString::fromStdString(agent.runName)) + 16;
        QVERIFY(table->columnWidth(items::ConnectionsModel::RunColumn) >= longer);
    }
};

TELLTALE_TEST(QTEST_MAIN, ConnectionsTest)

}

#include "connectionstest.moc"
