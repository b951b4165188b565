// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QBuffer>
#include <QLabel>

#include <telltale/attention/attentioncanvas.h>
#include <telltale/attention/headmapscanvas.h>

#include "attendedruns.h"

namespace headmapstest {

using namespace telltale;
using namespace telltale::views;

/// What the Attention view shows of recorded maps of queries and keys. Thread: the test's.
class HeadMapsTest : public QObject, test::AttendedRuns {
    Q_OBJECT
private Q_SLOTS:
    void init() { open("run"); }
    void cleanup() { close(); }

    void attentionMapsAreTheNearestRecordedOnes_data()
    {
        QTest::addColumn<int>("cursor");
        QTest::addColumn<int>("recorded");
        QTest::newRow("before the first") << 10 << kMapEach;
        QTest::newRow("at one") << 300 << 300;
        QTest::newRow("behind one") << 349 << 300;
        QTest::newRow("the last") << kSteps - 1 << 650;
    }
    void attentionMapsAreTheNearestRecordedOnes()
    {
        QFETCH(int, cursor);
        QFETCH(int, recorded);
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { cursor });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const HeadMapPicture& maps = *m_view->headMaps()->picture();
        QCOMPARE(maps.tiles.size(), std::size_t { 4 }); // two heads of two layers
        for (const HeadMapTile& tile : maps.tiles) {
            QCOMPARE(tile.step.value, recorded);
            const int layer = tile.key.name == QLatin1String("layers.1.attn") ? 1 : 2;
            for (int row = 0; row < kMapSize; ++row) {
                for (int column = 0; column < kMapSize; ++column) {
                    const float expected = shareOf(1, recorded, layer, tile.key.slot.head, row, column);
                    const float found = tile.cell(row, column);
                    QVERIFY(std::isnan(expected) ? std::isnan(found) : found == expected);
                }
            }
        }
        // Of the selected heads where they have some.
        m_state->setSelection({ head(2, 3), head(0, 0) });
        settle();
        for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles) {
            QCOMPARE(tile.key, head(2, 3));
            QCOMPARE(tile.title, QStringLiteral("L2 h3"));
            QCOMPARE(tile.isAtCursor, tile.step.value == recorded);
        }
        const auto* caption = m_view->findChild<QLabel*>(QStringLiteral("headMapsCaption"));
        QVERIFY2(caption->text().contains(QStringLiteral("1 selected head has no map")), qPrintable(caption->text()));
        const QString which
            = cursor < recorded ? QStringLiteral("the first after step") : QStringLiteral("the last before step");
        QCOMPARE(caption->text().contains(which), cursor != recorded);
        m_state->setSelection({});
        settle();
        QCOMPARE(caption->text().contains(which), cursor != recorded);
        // A head of whatever layer has one name, where the rows are ranks as well.
        m_state->setSelection({ head(2, 3), head(0, 0) });
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        choose("attentionLayer", QStringLiteral("layers.1.attn"));
        for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles)
            QCOMPARE(tile.title, QStringLiteral("L2 h3"));
        QVERIFY(std::ranges::any_of(m_view->headMaps()->picture()->tiles, &HeadMapTile::isAtCursor));
    }

    /// Spread over what is in sight, and that of the cursor; a line for each head.
    void chosenHeadsShowTheirMapsOverTheSteps()
    {
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { 500 });
        m_state->setSelection({ head(1, 1), head(2, 3) });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const auto stepsOf = [this](const ModuleKey& key) {
            std::vector<std::int64_t> steps;
            for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles) {
                if (tile.key == key)
                    steps.push_back(tile.step.value);
                const int layer = tile.key == head(1, 1) ? 1 : 2;
                const float expected = shareOf(1, static_cast<int>(tile.step.value), layer, tile.key.slot.head, 4, 2);
                if (tile.cell(4, 2) != expected)
                    return std::vector<std::int64_t> { -1 };
            }
            return steps;
        };
        const std::vector<std::int64_t> spread { 50, 100, 200, 300, 350, 500, 550, 650 };
        QCOMPARE(stepsOf(head(1, 1)), spread);
        QCOMPARE(stepsOf(head(2, 3)), spread);
        const HeadMapsCanvas& maps = *m_view->headMaps();
        QCOMPARE(maps.cellsRect(8, maps.size()).left(), maps.cellsRect(0, maps.size()).left());
        QVERIFY(maps.cellsRect(8, maps.size()).top() > maps.cellsRect(7, maps.size()).bottom());
        QVERIFY(maps.cellsRect(7, maps.size()).top() == maps.cellsRect(0, maps.size()).top());
        const auto* caption = m_view->findChild<QLabel*>(QStringLiteral("headMapsCaption"));
        QVERIFY2(caption->text().contains(QStringLiteral("13 recorded steps")), qPrintable(caption->text()));
        QVERIFY(m_view->renderImage({ 1200, 800 }).save(test::shot(QStringLiteral("attention-map-steps.png"))));
        m_state->zoomTo({ Step { 300 }, Step { 600 } });
        settle();
        QCOMPARE(stepsOf(head(2, 3)), (std::vector<std::int64_t> { 300, 350, 400, 450, 500, 550, 600 }));
        QVERIFY2(!caption->text().contains(QStringLiteral("recorded steps")), qPrintable(caption->text()));
        m_state->setSelection({});
        settle();
        QCOMPARE(m_view->headMaps()->picture()->tiles.size(), std::size_t { 4 });
    }

    /// Heads may stand beside each other, so that few of their steps in a low and wide place are not stamps.
    void linesOfHeadsFillTheirPlace()
    {
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { 500 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& canvas = *m_view->headMaps();
        auto picture = std::make_shared<HeadMapPicture>();
        picture->lines = 6;
        picture->stepsOfHead = 4;
        picture->sharesSteps = true;
        for (int i = 0; i < 24; ++i) {
            HeadMapTile tile = canvas.picture()->tiles.front();
            tile.key = head(i / 4, 0);
            tile.title = QStringLiteral("L%1 h0").arg(i / 4);
            tile.line = i / 4;
            tile.inLine = i % 4;
            tile.step = Step { tile.inLine * 10 };
            picture->tiles.push_back(tile);
        }
        canvas.setPicture(picture);
        const QSize size(1000, 240);
        std::vector<QRectF> cells;
        for (int i = 0; i < 24; ++i)
            cells.push_back(canvas.cellsRect(i, size));
        QVERIFY2(cells.front().width() >= 40, qPrintable(QString::number(cells.front().width())));
        const QRectF plot = canvas.plotRect(size);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            QVERIFY(plot.adjusted(-1, 0, 1, 1).contains(cells[i]));
            if (i % 4 > 0) // a line of them
                QVERIFY(cells[i].top() == cells[i - 1].top() && cells[i].left() > cells[i - 1].right());
            for (std::size_t j = 0; j < i; ++j)
                QVERIFY(!cells[i].intersects(cells[j]));
        }
    }

    void anAttentionMapIsReadByMouseAndKeys()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QRect above = m_view->canvas()->geometry();
        QTest::mouseClick(&maps, Qt::LeftButton, Qt::NoModifier, maps.cellsRect(3, maps.size()).center().toPoint());
        QCOMPARE(m_state->selection(), (std::vector { head(2, 3) }));
        settle();
        QCOMPARE(m_view->canvas()->geometry(), above); // the next head is where it was
        m_state->setSelection({});
        settle();
        maps.setFocus();
        for (const auto key : { Qt::Key_Down, Qt::Key_PageDown, Qt::Key_Right, Qt::Key_Return })
            QTest::keyClick(&maps, key);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 3) }));
    }

    void aCellOfAnAttentionMapSaysWhichItIs()
    {
        analysis::HeadMaps maps;
        maps.shape.queries = maps.shape.keys = 62;
        QCOMPARE(HeadMapsCanvas::cellText(maps, 33, 1), QStringLiteral("query 33, key 1"));
        maps.queriesPerRow = 4;
        QCOMPARE(HeadMapsCanvas::cellText(maps, 8, 1), QStringLiteral("queries 32 to 35, key 1"));
        maps.keysPerColumn = 4; // the last has fewer
        QCOMPARE(HeadMapsCanvas::cellText(maps, 8, 15), QStringLiteral("queries 32 to 35, keys 60 to 61"));
    }

    /// Few of them leave their room to the maps of heads.
    void whatRecordedMapsDoNotFillIsTheMapsAbove()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const HeadMapsCanvas* maps = m_view->headMaps();
        for (const QSize size : { QSize(1080, 1000), QSize(700, 700) }) {
            m_host->resize(size);
            m_view->resize(size);
            settle();
            const int rest = maps->height() - maps->usedHeight(maps->size());
            QVERIFY2(rest <= 4 || m_view->canvas()->height() >= m_view->canvas()->mostHeight() - 4,
                qPrintable(QString::number(rest)));
        }
    }

    /// However small a map is.
    void aNonFiniteCellOfAMapIsSeen_data()
    {
        QTest::addColumn<int>("width");
        for (const int width : { 1200, 300, 200 })
            QTest::newRow(QByteArray::number(width)) << width;
    }
    void aNonFiniteCellOfAMapIsSeen()
    {
        QFETCH(int, width);
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QSize size(width, width / 2);
        const QImage image = maps.renderTo(size);
        const QRect broken = maps.cellsRect(3, size).toAlignedRect();
        int seen = 0;
        for (int y = broken.top(); y <= broken.bottom(); ++y) {
            for (int x = broken.left(); x <= broken.right(); ++x)
                seen += image.pixelColor(x, y) == Theme::current().criticalMark ? 1 : 0;
        }
        QVERIFY(seen >= 6);
        const QRect whole = maps.cellsRect(2, size).toAlignedRect();
        for (int y = whole.top(); y <= whole.bottom(); ++y) {
            for (int x = whole.left(); x <= whole.right(); ++x)
                QVERIFY(image.pixelColor(x, y) != Theme::current().criticalMark);
        }
    }

    void whatANonFiniteCellIsStandsBelowTheNumbersOfTheScale()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QSize size(1200, 600);
        const QImage image = maps.renderTo(size);
        double right = 0;
        for (std::size_t i = 0; i < maps.picture()->tiles.size(); ++i)
            right = std::max(right, maps.cellsRect(static_cast<int>(i), size).right());
        const int left = static_cast<int>(right) + 2;
        int sign = 0;
        while (sign < size.height() && image.pixelColor(left + 16, sign) != Theme::current().criticalMark)
            ++sign;
        QVERIFY(sign < size.height());
        const auto hasNumber = [&](int y) {
            for (int x = left + 32; x < left + 50; ++x) {
                if (image.pixelColor(x, y) != Theme::current().base)
                    return true;
            }
            return false;
        };
        int number = sign - 1;
        while (number > 0 && !hasNumber(number))
            --number;
        QVERIFY2(number > 0 && sign - number >= 8, qPrintable(QStringLiteral("%1 %2").arg(number).arg(sign)));
    }

    void theHighestNumberOfTheScaleIsBelowItsTitle()
    {
        m_state->setCursor(Step { 500 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        auto picture = std::make_shared<HeadMapPicture>(*maps.picture());
        auto one = std::make_shared<analysis::HeadMaps>(*picture->tiles.front().maps);
        one->cells.front() = 1;
        picture->tiles.front().maps = one;
        maps.setPicture(picture);
        const QImage image = maps.renderTo({ 1200, 600 });
        const auto last = static_cast<int>(maps.picture()->tiles.size()) - 1;
        const QRect cells = maps.cellsRect(last, image.size()).toRect();
        const QRect numbers(cells.right() + 34, 0, 40, image.height());
        const auto isBlank = [&](int y) {
            for (int x = numbers.left(); x < numbers.right(); ++x) {
                if (image.pixelColor(x, y) != Theme::current().base)
                    return false;
            }
            return true;
        };
        int y = maps.cellsRect(0, image.size()).toRect().top() - 18;
        while (isBlank(y))
            ++y; // to the title
        while (!isBlank(y))
            ++y;
        int between = 0;
        for (; isBlank(y); ++y)
            ++between;
        QVERIFY2(between >= 3 && between < 20, qPrintable(QString::number(between)));
    }

    void theMapsOfOneOfSeveralRanksSayWhichItIs()
    {
        m_state->setRank(Rank { 1 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const auto* caption = m_view->findChild<QLabel*>(QStringLiteral("headMapsCaption"));
        QVERIFY2(caption->text().contains(QStringLiteral("rank 1")), qPrintable(caption->text()));
    }

    void theTableOfMapsHoldsEveryCell()
    {
        m_state->setCursor(Step { 610 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().split('\n');
        QCOMPARE(lines.size(), 1 + 4 * kMapSize * (kMapSize + 1) / 2 + 1);
        QVERIFY(lines.contains("layers.2.attn,3,0,600,20,23,0,3,nan,NaN\r"));
        const float share = shareOf(0, 600, 1, 3, 7, 2);
        QVERIFY(lines.contains("layers.1.attn,3,0,600,28,31,8,11,value," + QByteArray::number(share) + "\r"));
        QVERIFY(m_view->renderImage({ 1200, 800 }).save(test::shot(QStringLiteral("attention-maps.png"))));
    }
};

TELLTALE_TEST(QTEST_MAIN, HeadMapsTest)

}

#include "headmapstest.moc"
