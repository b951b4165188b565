// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QHeaderView>
#include <QPainter>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTreeWidget>

#include <telltale/common/colormap.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>

namespace tst_themecolors {

using namespace telltale::views;

namespace {

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color)
{
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

/// Thin lines have no opaque pixel: their color is what counts.
bool isNear(const QColor& pixel, const QColor& wanted)
{
    return pixel.alpha() > 60 && std::abs(pixel.red() - wanted.red()) < 6
        && std::abs(pixel.green() - wanted.green()) < 6 && std::abs(pixel.blue() - wanted.blue()) < 6;
}

/// WCAG 2 contrast ratio.
double contrast(const QColor& a, const QColor& b)
{
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

}

class ThemeColors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aBarOfTabsEndsInOneLine()
    {
        for (const auto mode : { Theme::Mode::Dark, Theme::Mode::Light }) {
            Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), mode);
            QTabWidget tabs;
            tabs.setDocumentMode(true);
            tabs.addTab(new QWidget, QStringLiteral("one"));
            tabs.resize(400, 120);
            tabs.ensurePolished();
            const QImage image = tabs.grab().toImage();
            const Theme& theme = Theme::current();
            std::vector<QColor> colors;
            for (int y = 0; y < tabs.tabBar()->geometry().bottom() + 4; ++y) {
                const QColor color = image.pixelColor(350, y);
                if (colors.empty() || colors.back() != color)
                    colors.push_back(color);
            }
            for (const QColor& color : colors)
                QVERIFY2(
                    color == theme.window || color == theme.border || color == theme.base, qPrintable(color.name()));
        }
    }

    void aRowShowsItsFocusToTheKeyboardAlone()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        QTreeWidget tree;
        tree.setAllColumnsShowFocus(true);
        for (int row = 0; row < 4; ++row)
            tree.addTopLevelItem(new QTreeWidgetItem({ QString::number(row) }));
        tree.show();
        tree.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&tree));
        const auto hasFrame = [&tree] {
            const QRect row = tree.visualItemRect(tree.currentItem());
            const QImage image = tree.viewport()->grab().toImage();
            return image.pixelColor(row.center().x(), row.top()) == Theme::current().accent;
        };
        const auto click = [&tree](int row) {
            QTest::mouseClick(
                tree.viewport(), Qt::LeftButton, {}, tree.visualItemRect(tree.topLevelItem(row)).center());
        };
        click(1);
        QVERIFY(tree.currentItem() == tree.topLevelItem(1) && !hasFrame());
        QTest::keyClick(&tree, Qt::Key_Down);
        QVERIFY(tree.currentItem() == tree.topLevelItem(2) && hasFrame());
        click(1);
        QVERIFY(tree.currentItem() == tree.topLevelItem(1) && !hasFrame());
    }

    void codeHasNoLigatures()
    {
        const QFont font = codeFont(20); // whose letters are of whole pixels
        const auto drawn = [&font](const QStringList& parts) {
            QImage image(100, 40, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.setFont(font);
            int x = 4;
            for (const QString& part : parts) {
                painter.drawText(x, 30, part);
                x += painter.fontMetrics().horizontalAdvance(part);
            }
            return image;
        };
        QCOMPARE(drawn({ QStringLiteral("->") }), drawn({ QStringLiteral("-"), QStringLiteral(">") }));
    }

    void rolesReachTheContrastOfTheDesign_data()
    {
        QTest::addColumn<QColor>("color");
        QTest::addColumn<QColor>("ground");
        QTest::addColumn<double>("expected");
        const auto add = [](const char* name, const QColor& color, const QColor& ground, double expected) {
            QTest::newRow(name) << color << ground << expected;
        };
        const Theme& d = Theme::dark();
        add("dark text on base", d.text, d.base, 14.5);
        add("dark text on window", d.text, d.window, 13.2);
        add("dark text2 on base", d.text2, d.base, 8.0);
        add("dark text3 on base", d.text3, d.base, 5.4);
        add("dark text3 on window", d.text3, d.window, 4.9);
        add("dark accent on base", d.accent, d.base, 7.8);
        add("dark on accent", d.onAccent, d.accent, 7.6);
        add("dark text on selection", d.text, d.selection, 8.1);
        add("dark strong on window", d.strong, d.window, 3.5);
        add("dark ok on window", d.ok, d.window, 7.0);
        add("dark warn text on window", d.warnText, d.window, 7.8);
        add("dark critical text on window", d.criticalText, d.window, 5.5);
        add("dark critical mark on base", d.criticalMark, d.base, 4.9);
        add("dark notice on window", d.notice, d.window, 6.3);
        const Theme& l = Theme::light();
        add("light text on base", l.text, l.base, 16.7);
        add("light text2 on window", l.text2, l.window, 6.6);
        add("light text3 on window", l.text3, l.window, 4.5);
        add("light accent on window", l.accent, l.window, 5.2);
        add("light on accent", l.onAccent, l.accent, 5.8);
        add("light text on selection", l.text, l.selection, 12.7);
        add("light strong on window", l.strong, l.window, 3.0);
        add("light ok on window", l.ok, l.window, 5.2);
        add("light warn text on window", l.warnText, l.window, 5.5);
        add("light warn mark on base", l.warnMark, l.base, 3.1);
        add("light critical text on window", l.criticalText, l.window, 5.2);
        add("light critical mark on base", l.criticalMark, l.base, 3.7);
        add("light notice on window", l.notice, l.window, 5.3);
    }

    void rolesReachTheContrastOfTheDesign()
    {
        QFETCH(QColor, color);
        QFETCH(QColor, ground);
        QFETCH(double, expected);
        // The design's figures are rounded to a tenth.
        QVERIFY2(std::abs(contrast(color, ground) - expected) <= 0.051,
            qPrintable(QString::number(contrast(color, ground), 'f', 3)));
    }

    void whatIsCriticalIsReadableOnASelectedRow()
    {
        for (const Theme* theme : { &Theme::dark(), &Theme::light() }) {
            for (const QColor& color : { theme->criticalText, theme->text3 })
                QVERIFY(contrast(theme->onSelection(color), theme->selection) >= 4.5);
        }
    }

    void everySeriesColorIsReadableOnItsBase()
    {
        for (const Theme* theme : { &Theme::dark(), &Theme::light() }) {
            for (const QColor& color : theme->series)
                QVERIFY2(contrast(color, theme->base) >= 2.95, qPrintable(color.name()));
        }
    }

    void noSeriesAndNoMapUsesTheRoseOfNonFiniteValues()
    {
        const QRgb rose = Theme::dark().criticalMark.rgb();
        for (const ColorTable* table : { &kSequentialTable, &kDivergingDarkTable, &kDivergingLightTable })
            QVERIFY(std::find(table->begin(), table->end(), rose) == table->end());
        for (const QColor& color : Theme::dark().series)
            QVERIFY(color.rgb() != rose);
    }

    void sequentialMapGetsBrighterWithEveryEntry()
    {
        for (std::size_t i = 1; i < kSequentialTable.size(); ++i) {
            const double before = luminance(QColor::fromRgb(kSequentialTable[i - 1]));
            QVERIFY(luminance(QColor::fromRgb(kSequentialTable[i])) >= before - 0.002);
        }
        QCOMPARE(QColor::fromRgb(kSequentialTable.front()).name(), QStringLiteral("#171c33"));
        QCOMPARE(QColor::fromRgb(kSequentialTable.back()).name(), QStringLiteral("#f9f4b1"));
    }

    void seriesTurnToDashesAndThenToGrey()
    {
        const Theme& theme = Theme::dark();
        QCOMPARE(SeriesStyle::forSlot(0, theme).dashOn, 0);
        QCOMPARE(SeriesStyle::forSlot(6, theme).color, SeriesStyle::forSlot(0, theme).color);
        QCOMPARE(SeriesStyle::forSlot(6, theme).dashOn, 6);
        QCOMPARE(SeriesStyle::forSlot(12, theme).dashOn, 2);
        QCOMPARE(SeriesStyle::forSlot(18, theme).color, theme.text3);
    }

    void aRunKeepsItsColorHoweverManyRowsThereAre()
    {
        const Theme& theme = Theme::dark();
        for (int place = 0; place < 9; ++place) {
            const SeriesStyle style = SeriesStyle::forSlot(SeriesStyle::slotOfRun(1, place, 3), theme);
            QCOMPARE(style.color, theme.series[1]);
            QCOMPARE(style.dashOn, SeriesStyle::forSlot(place % 3 * SeriesStyle::kColors, theme).dashOn);
        }
        QCOMPARE(SeriesStyle::slotOfRun(7, 4, 8), 7); // of so many a row's dash would be another run's
    }

    void everyIconIsDrawnInTheColorOfTheTheme()
    {
        QApplication& app = *qobject_cast<QApplication*>(QCoreApplication::instance());
        const QStringList names = QDir(QStringLiteral(":/icons")).entryList();
        QCOMPARE(names.size(), 43);
        for (const Theme::Mode mode : { Theme::Mode::Dark, Theme::Mode::Light }) {
            Theme::apply(app, mode);
            for (const QString& file : names) {
                const QImage image = icon(file.chopped(4)).pixmap(QSize(32, 32)).toImage();
                bool found = false;
                for (int y = 0; y < image.height(); ++y) {
                    for (int x = 0; x < image.width(); ++x)
                        found = found || isNear(image.pixelColor(x, y), Theme::current().text2);
                }
                QVERIFY2(found, qPrintable(file));
            }
        }
    }

    void anItemsColorIsThatOfTheThemeInForce()
    {
        QTreeWidget tree;
        auto* item = new QTreeWidgetItem(&tree, { QStringLiteral("NaN NaN NaN") });
        item->setData(0, kThemeColorRole, QVariant::fromValue(&Theme::criticalText));
        item->setFont(0, wordsFont(20, 600));
        tree.resize(300, 80);
        for (const auto& [mode, isSelected] : { std::pair { Theme::Mode::Dark, false }, { Theme::Mode::Light, false },
                 { Theme::Mode::Dark, true }, { Theme::Mode::Light, true } }) {
            Theme::apply(*qApp, mode);
            item->setSelected(isSelected);
            const QImage image = tree.grab().toImage();
            const Theme& theme = Theme::current();
            const QColor wanted = isSelected ? theme.onSelection(theme.criticalText) : theme.criticalText;
            int found = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x)
                    found += isNear(image.pixelColor(x, y), wanted) ? 1 : 0;
            }
            QVERIFY2(found > 20, qPrintable(QString::number(found)));
        }
    }

    void controlsHaveTheHeightsOfTheDesign()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        QPushButton button(QStringLiteral("Apply"));
        QCOMPARE(button.sizeHint().height(), 28);
        QComboBox combo;
        combo.addItem(QStringLiteral("log"));
        QCOMPARE(combo.sizeHint().height(), 24);
    }

    void wordsStandBelowTheirHeadingAndTheTitleOfTheirTable()
    {
        Theme::apply(*qApp, Theme::Mode::Dark);
        QTreeWidget tree;
        tree.setFrameShape(QFrame::NoFrame);
        tree.setRootIsDecorated(false);
        tree.setIndentation(0);
        tree.setHeaderLabels({ QStringLiteral("|"), QStringLiteral("|") });
        tree.addTopLevelItem(new QTreeWidgetItem({ QStringLiteral("|"), QStringLiteral("|") }));
        tree.resize(300, 80);
        const auto firstInk = [&tree](QWidget* part, int row, int column) {
            const QImage image = part->grab().toImage();
            const QRgb ground = image.pixel(1, row);
            int x = tree.columnViewportPosition(column);
            while (x < image.width() && image.pixel(x, row) == ground)
                ++x;
            return x - tree.columnViewportPosition(column);
        };
        const int row = tree.visualItemRect(tree.topLevelItem(0)).center().y();
        for (const auto& [column, inset] : { std::pair { 0, 12 }, { 1, 8 } }) {
            const int heading = firstInk(tree.header()->viewport(), 11, column);
            QCOMPARE(firstInk(tree.viewport(), row, column), heading);
            QVERIFY2(std::abs(heading - inset) <= 2, qPrintable(QString::number(heading))); // a letter has its own room
        }
        QCOMPARE(wordsOf({ 0, 0, 100, 20 }, tree.model()->index(0, 0)).left(), 12);
        QCOMPARE(wordsOf({ 0, 0, 100, 20 }, tree.model()->index(0, 1)).left(), 8);
    }

    void numbersHaveOneWidthForEveryDigit()
    {
        const QFontMetricsF metrics(numberFont(12));
        for (int digit = 0; digit < 10; ++digit)
            QCOMPARE(metrics.horizontalAdvance(QString::number(digit)), metrics.horizontalAdvance(QStringLiteral("0")));
    }
};

TELLTALE_TEST(QTEST_MAIN, ThemeColors)

}

#include "tst_themecolors.moc"
