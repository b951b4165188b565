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

    void theArrowOfTheSortedColumnIsBesideItsWord()
    {
        views::Theme::apply(*qApp, views::Theme::Mode::Dark);
        const auto host = shownWithPanel(1400);
        auto& panel = *host->findChild<views::ConnectionsPanel*>();
        ConnectionInfo agent;
        agent.agentId = "node/3";
        panel.setConnections({ agent });
        auto* table = panel.findChild<QTableView*>(QStringLiteral("connectionsTable"));
        QTRY_VERIFY(table->isVisible());
        auto* header = table->horizontalHeader();
        const int column = items::ConnectionsModel::ReceivedColumn;
        // From the left edge of the column to its word, which ends at the right.
        const auto leftOfWord = [&] {
            const QRect section(header->sectionViewportPosition(column), 0, header->sectionSize(column), 20);
            const QImage picture = header->viewport()->grab(section).toImage();
            for (int x = 0; x < picture.width(); ++x) {
                for (int y = 2; y < picture.height(); ++y) {
                    if (picture.pixelColor(x, y).lightness() > picture.pixelColor(0, 2).lightness() + 60)
                        return picture.width() - x;
                }
            }
            return 0;
        };
        const int before = leftOfWord();
        QVERIFY(before > 20);
        table->sortByColumn(column, Qt::AscendingOrder);
        QVERIFY2(leftOfWord() >= before + 12, qPrintable(QString::number(leftOfWord() - before)));
    }
};

TELLTALE_TEST(QTEST_MAIN, ConnectionsTest)

}

#include "connectionstest.moc"
