// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <limits>

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QSignalSpy>

#include <telltale/common/absentkind.h>
#include <telltale/common/axispainter.h>
#include <telltale/common/csv.h>
#include <telltale/common/passorder.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/store/confighistory.h>

#include "commonsynthetic.h"

namespace tst_common {

using namespace telltale;
using namespace telltale::views;

namespace {

StepRange range(std::int64_t first, std::int64_t last)
{
    return { Step { first }, Step { last } };
}

ModuleKey key(const char* name)
{
    return { QString::fromLatin1(name), {} };
}

class FullDisk : public QIODevice {
protected:
    qint64 readData(char*, qint64) override { return -1; }
    qint64 writeData(const char*, qint64) override { return -1; }
};

/// Reads RFC 4180 back, as a spreadsheet does.
QList<QStringList> parse(const QByteArray& csv)
{
    QList<QStringList> rows;
    QStringList row;
    QByteArray cell;
    bool quoted = false;
    for (qsizetype i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        if (quoted) {
            if (c == '"' && i + 1 < csv.size() && csv[i + 1] == '"') {
                cell += '"';
                ++i;
            } else if (c == '"') {
                quoted = false;
            } else {
                cell += c;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            row << QString::fromUtf8(cell);
            cell.clear();
        } else if (c == '\r' && i + 1 < csv.size() && csv[i + 1] == '\n') {
            row << QString::fromUtf8(cell);
            cell.clear();
            rows << row;
            row.clear();
            ++i;
        } else {
            cell += c;
        }
    }
    return rows;
}

}

class Common : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void hairlinesAreOfOneWidthAtEveryScale()
    {
        for (const double scale : { 1.0, 1.25, 1.5, 2.0 }) {
            QImage image(300, 300, QImage::Format_ARGB32_Premultiplied);
            image.setDevicePixelRatio(scale);
            for (const Qt::Orientation orientation : { Qt::Horizontal, Qt::Vertical }) {
                for (int at = 0; at < 20; ++at) {
                    image.fill(Qt::black);
                    QPainter painter(&image);
                    fillHair(painter, orientation == Qt::Vertical ? QPointF(at, 0) : QPointF(0, at), 100, orientation,
                        Qt::white);
                    painter.end();
                    int lines = 0;
                    for (int pixel = 0; pixel < 100; ++pixel) {
                        const QRgb color = orientation == Qt::Vertical ? image.pixel(pixel, 9) : image.pixel(9, pixel);
                        QVERIFY(color == qRgb(0, 0, 0) || color == qRgb(255, 255, 255));
                        lines += color == qRgb(255, 255, 255) ? 1 : 0;
                    }
                    QCOMPARE(lines, static_cast<int>(std::round(scale)));
                }
            }
        }
    }

    /// The norm of all gradients is made of them: where all are NaN at one step, it was not the first.
    void metricsStandInThePassWhereTheyAreMade()
    {
        store::Catalog catalog;
        for (const Kind kind : { Kind::Scalar, Kind::GradReduced, Kind::Actv, Kind::ActvGrad }) {
            store::GroupInfo group;
            group.kind = kind;
            group.stats = { kind == Kind::Scalar ? Stat::Value : Stat::Norm };
            catalog.groups.push_back(group);
        }
        const auto order = quantitiesInPassOrder(catalog);
        std::vector<Kind> kinds;
        for (const analysis::Quantity& one : order)
            kinds.push_back(one.kind);
        QVERIFY((kinds == std::vector { Kind::Actv, Kind::Scalar, Kind::ActvGrad, Kind::GradReduced, Kind::Scalar }));
        for (const char* name : { "loss", "lr", "grad-norm", "accuracy" })
            QVERIFY(order[1].isNamed(name) != order[4].isNamed(name));
        QVERIFY(order[1].isNamed("loss") && order[4].isNamed("grad-norm"));
    }

    void aKindWithoutTheStatisticTakesItsFirst()
    {
        auto catalog = std::make_shared<store::Catalog>();
        const auto add = [&](Kind kind, std::vector<Stat> stats) {
            store::GroupInfo group;
            group.kind = kind;
            group.stats = std::move(stats);
            catalog->groups.push_back(group);
        };
        add(Kind::GradReduced, { Stat::Norm, Stat::Min, Stat::Max });
        add(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax });
        ViewState state;
        state.setCatalog(catalog);
        state.setKind(Kind::Attention);
        QCOMPARE(state.stat(), Stat::Entropy);
        state.setStat(Stat::SoftmaxMax);
        state.setKind(Kind::GradReduced);
        QCOMPARE(state.stat(), Stat::Norm);
        state.setStat(Stat::AbsMax); // derived, and there
        state.setCatalog(std::make_shared<store::Catalog>(*catalog));
        QCOMPARE(state.stat(), Stat::AbsMax);
    }

    void aRecordThatIsReadAgainKeepsItsMark()
    {
        ViewState state;
        const QSignalSpy changed(&state, &ViewState::eventMarksChanged);
        const auto page = [](std::int64_t id, const char* text, bool isChanged) {
            store::LogPage made;
            store::LogRecord& record = made.records.emplace_back();
            record.id = id;
            record.kind = "restart";
            record.text = text;
            record.isChanged = isChanged;
            return made;
        };
        state.appendLog(page(3, "rev 1", false));
        state.appendLog(page(5, "rev 2", true)); // changed before it was read at all
        state.appendLog(page(3, "rev 1, refused", true));
        QCOMPARE(changed.count(), 3);
        state.appendLog(page(3, "rev 1, refused", true));
        QCOMPARE(changed.count(), 3);
        QCOMPARE(state.eventMarks().size(), std::size_t { 2 });
        QCOMPARE(state.eventMarks()[0].label, QStringLiteral("rev 1, refused"));
        QCOMPARE(state.eventMarks()[1].label, QStringLiteral("rev 2"));
    }

    void otherRulesAreMarkedWhereTheyBegin()
    {
        ViewState state;
        store::LogPage page;
        for (const int rank : { -1, 0 }) { // an agent's word changes no rules
            store::LogRecord& record = page.records.emplace_back();
            record.id = static_cast<std::int64_t>(page.records.size());
            record.kind = "rules";
            record.rank = Rank { rank };
            record.steps = { Step { 40 }, Step { 40 } };
        }
        state.appendLog(page);
        QCOMPARE(state.eventMarks().size(), std::size_t { 1 });
        QCOMPARE(state.eventMarks().front().step, Step { 40 });
        QCOMPARE(state.eventMarks().front().label, QStringLiteral("rules"));
    }

    void aConfigThatHasNoNumberIsMarkedWithAWord()
    {
        store::LogRecord record;
        record.kind = "config";
        record.text = "the changed config is in force from this step";
        QCOMPARE(EventMark::of(record)->label, QStringLiteral("config"));
        record.text = "nothing is collected from this step on: dynamic_on is false"; // why nothing follows
        QCOMPARE(EventMark::of(record)->brief, QStringLiteral("nothing is collected from this step on"));
    }

    void aRevisionIsMarkedOnceWhereRanksBeganToRunIt()
    {
        ViewState state;
        store::LogPage page;
        const auto add = [&](int rank, std::string_view phase, std::int64_t step) {
            store::LogRecord& record = page.records.emplace_back();
            record.id = static_cast<std::int64_t>(page.records.size());
            record.kind = "config";
            record.rank = Rank { rank };
            record.phase = phase;
            record.steps = { Step { step }, Step { step } };
            record.rev = 13;
            record.text = "a sentence";
        };
        add(-1, store::configphase::kOffered, 40);
        add(0, store::configphase::kAccepted, 40);
        add(1, store::configphase::kRefused, 40);
        add(-1, store::configphase::kOffered, 50);
        for (int rank = 0; rank < 8; ++rank)
            add(rank, store::configphase::kApplied, 50);
        add(8, store::configphase::kApplied, 70); // it was away
        state.appendLog(page);
        QCOMPARE(state.eventMarks().size(), std::size_t { 2 });
        QCOMPARE(state.eventMarks()[0].step, Step { 50 });
        QCOMPARE(state.eventMarks()[0].label, QStringLiteral("rev 13"));
        QCOMPARE(state.eventMarks()[1].step, Step { 70 });
    }

    void followingKeepsTheNewestStepsInView()
    {
        ViewState state;
        state.setFullRange(range(0, 99));
        QCOMPARE(state.visibleRange(), range(0, 99));
        state.setFullRange(range(0, 199));
        QCOMPARE(state.visibleRange(), range(0, 199));
        state.setFollowSpan(50);
        QCOMPARE(state.visibleRange(), range(150, 199));
        state.setFullRange(range(0, 249));
        QCOMPARE(state.visibleRange(), range(200, 249));
    }

    void zoomingAwayFromTheLiveEdgeEndsFollowing()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        QSignalSpy following(&state, &ViewState::followingChanged);
        state.zoomTo(range(100, 200));
        QVERIFY(!state.isFollowing());
        QCOMPARE(following.count(), 1);
        state.setFullRange(range(0, 1099));
        QCOMPARE(state.visibleRange(), range(100, 200));
    }

    void zoomingAtTheLiveEdgeKeepsFollowingWithThatWidth()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        state.zoomTo(range(900, 999));
        QVERIFY(state.isFollowing());
        state.setFullRange(range(0, 1009));
        QCOMPARE(state.visibleRange(), range(910, 1009));
    }

    void zoomBackRestoresEveryStepOfTheStack()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        state.zoomTo(range(100, 499));
        state.zoomTo(range(200, 299));
        state.zoomTo(range(220, 229));
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(200, 299));
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(100, 499));
        state.setFullRange(range(0, 1999));
        state.zoomBack();
        QVERIFY(state.isFollowing());
        QCOMPARE(state.visibleRange(), range(0, 1999));
        QVERIFY(!state.canZoomBack());
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(0, 1999));
    }

    void notchesOfOneGestureAreOneStepOfTheStack()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        state.zoomTo(range(100, 899));
        state.zoomTo(range(200, 799), true);
        state.zoomTo(range(300, 699), true);
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(0, 999));
    }

    void panStopsAtTheEnds()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        state.zoomTo(range(400, 499));
        state.pan(-1000);
        QCOMPARE(state.visibleRange(), range(0, 99));
        state.pan(5000);
        QCOMPARE(state.visibleRange(), range(900, 999));
    }

    void aPanIsTakenBackByItself()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        state.zoomTo(range(400, 499));
        state.pan(-100);
        state.pan(-50, true); // the same drag
        QCOMPARE(state.visibleRange(), range(250, 349));
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(400, 499));
        state.zoomBack();
        QCOMPARE(state.visibleRange(), range(0, 999));
    }

    void anotherRunForgetsCursorAndZoomAndKeepsWhatItHasOfTheSelection()
    {
        ViewState state;
        state.setFullRange(range(0, 999));
        const ModuleKey known = key(synthetic::moduleNames()[2].c_str());
        state.setSelection({ key("a"), known });
        state.setCursor(Step { 4 });
        state.zoomTo(range(3, 9));
        state.setRun(std::make_shared<store::RunHandle>());
        QVERIFY(!state.cursor());
        QVERIFY(!state.canZoomBack());
        QVERIFY(!state.isFollowing());
        state.setCatalog(std::make_shared<store::Catalog>()); // of a live run, before its first series
        state.setCatalog(synthetic::catalog());
        QCOMPARE(state.selection(), (std::vector<ModuleKey> { known }));
        state.setRun(nullptr);
        QVERIFY(state.selection().empty());
    }

    void colorsStayWithTheirSeriesWhileItIsSelected()
    {
        ViewState state;
        state.setSelection({ key("a"), key("b"), key("c") });
        QCOMPARE(state.slotOf(key("c")), 2);
        state.toggleSelected(key("a"));
        QCOMPARE(state.slotOf(key("a")), -1);
        QCOMPARE(state.slotOf(key("b")), 1);
        QCOMPARE(state.slotOf(key("c")), 2);
        state.toggleSelected(key("d"));
        QCOMPARE(state.slotOf(key("d")), 0);
    }

    void settingWhatIsSetEmitsNothing()
    {
        ViewState state;
        state.setFullRange(range(0, 9));
        QSignalSpy visible(&state, &ViewState::visibleRangeChanged);
        QSignalSpy stat(&state, &ViewState::statChanged);
        state.setFullRange(range(0, 9));
        state.zoomTo(range(0, 9));
        state.setStat(state.stat());
        QCOMPARE(visible.count(), 0);
        QCOMPARE(stat.count(), 0);
        QVERIFY(!state.canZoomBack());
    }

    void rowsStandInModelOrderAndInGroups()
    {
        RowWish wish;
        wish.kind = Kind::Actv;
        wish.rank = Rank { 3 };
        const std::vector<Row> rows = buildRows(*synthetic::catalog(), wish);
        const auto names = synthetic::moduleNames();
        QCOMPARE(rows.size(), names.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            QCOMPARE(rows[i].key.name.toStdString(), names[i]);
        QCOMPARE(rows[1].group, QStringLiteral("layers.0"));
        QCOMPARE(rows[1].label, QStringLiteral("0.ln1"));
        QCOMPARE(rows[0].group, QStringLiteral("embed"));
        wish.filter = QStringLiteral("qkv");
        QCOMPARE(buildRows(*synthetic::catalog(), wish).size(), std::size_t { 12 });
        wish.filter = QStringLiteral("layers.[0-3].*");
        QCOMPARE(buildRows(*synthetic::catalog(), wish).size(), std::size_t { 4 * 6 });
        wish.only = { { QStringLiteral("head"), Slot::output() }, { QStringLiteral("embed"), Slot::output() } };
        const std::vector<Row> only = buildRows(*synthetic::catalog(), wish);
        QCOMPARE(only.size(), std::size_t { 2 });
        QCOMPARE(only[0].key, wish.only[0]);
        QCOMPARE(only[1].key, wish.only[1]);
    }

    void aModuleWithoutAKindNamesWhatBelowItHasIt()
    {
        const auto catalog = synthetic::catalog();
        const auto text = [&](const char* name, Kind kind = Kind::Actv, int rank = 3) {
            return absentKindText(*catalog, kind, Rank { rank }, { { QString::fromLatin1(name), {} } });
        };
        QCOMPARE(text("layers.7.attn"),
            QStringLiteral("layers.7.attn itself has no activation, forward: select layers.7.attn.qkv."));
        QCOMPARE(text("layers.7"), QStringLiteral("layers.7 itself has no activation, forward: select layers.7.ln1."));
        for (const char* name : { "layers.7.attn.qkv", "layers.7.att", "nothing" })
            QCOMPARE(text(name), QString());
        QCOMPARE(text("layers.7", Kind::ParamOrigin), QString());
        QCOMPARE(text("layers.7", Kind::Actv, 8), QString());
        QVERIFY(!absentKindText(*catalog, Kind::Actv, std::nullopt, { { QStringLiteral("layers.7"), {} } }).isEmpty());
    }

    /// In labels, names and blocks, and below all of the first: what says the same twice is one thing.
    void everyNameSaysALaterMicroStep()
    {
        const auto catalog = synthetic::catalog();
        const std::size_t count = catalog->series.size();
        for (std::size_t i = 0; i < count; ++i) { // each beside its first, as unreduced gradients are laid out
            SeriesDesc desc = *catalog->series[i].desc;
            desc.microStep = 1;
            store::SeriesInfo info = catalog->series[i];
            info.id = SeriesId { static_cast<std::int64_t>(count + i) + 1 };
            info.desc = std::make_shared<const SeriesDesc>(std::move(desc));
            if (info.source == SourceId { 3 })
                catalog->series.push_back(info);
        }
        catalog->rows = store::indexRows(*catalog);
        std::vector<Row> rows = buildRows(*catalog, { Kind::Actv, Rank { 2 }, {}, {} });
        const std::size_t half = synthetic::moduleNames().size();
        QCOMPARE(rows.size(), 2 * half);
        for (std::size_t i = 0; i < half; ++i) {
            const Row& first = rows[i];
            const Row& later = rows[half + i];
            QCOMPARE(later.key, first.key);
            QVERIFY(!first.label.contains(u'µ') && !first.fullName().contains(u'µ') && !first.group.contains(u'µ'));
            QCOMPARE(later.label, first.label + QStringLiteral(" µ1"));
            QCOMPARE(later.group, first.group + QStringLiteral(" µ1"));
            QCOMPARE(later.fullName(), first.fullName() + QStringLiteral(" µ1"));
            QCOMPARE(later.variant(), QStringLiteral("output µ1"));
        }
        rows = buildRows(*catalog, { Kind::Actv, Rank { 2 }, {}, { rows[1].key, rows[0].key } });
        QCOMPARE(rows.size(), std::size_t { 4 });
        for (std::size_t i = 0; i < rows.size(); ++i) // as asked for
            QCOMPARE(rows[i].fullName(),
                (i % 2 == 0 ? QStringLiteral("layers.0.ln1 output") : QStringLiteral("embed output"))
                    + (i < 2 ? QString() : QStringLiteral(" µ1")));
        // Where all are of one, as in runs of other tools, its number tells nothing apart.
        QCOMPARE(microText(-1, true), QString());
        QCOMPARE(microText(0, false), QString());
        QCOMPARE(microText(0, true), QStringLiteral("µ0"));
        QCOMPARE(microText(3, false), QStringLiteral("µ3"));
    }

    void attemptsOfOneTensorAreOneRowOldestFirst()
    {
        store::Catalog catalog;
        for (int attempt = 0; attempt < 3; ++attempt) {
            store::SourceInfo source;
            source.id = SourceId { attempt + 1 };
            source.attempt = attempt;
            catalog.sources.push_back(source);
            store::SeriesInfo info;
            info.id = SeriesId { 10 + attempt };
            info.source = source.id;
            info.kind = Kind::Scalar;
            SeriesDesc desc;
            desc.name = "loss";
            info.desc = std::make_shared<const SeriesDesc>(std::move(desc));
            catalog.series.push_back(info);
        }
        catalog.rows = store::indexRows(catalog);
        RowWish wish;
        wish.kind = Kind::Scalar;
        const std::vector<Row> rows = buildRows(catalog, wish);
        QCOMPARE(rows.size(), std::size_t { 1 });
        QCOMPARE(rows[0].attempts, (series::RowAttempts { SeriesId { 10 }, SeriesId { 11 }, SeriesId { 12 } }));
    }

    void csvComesBackAsItWas()
    {
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        CsvWriter csv(&buffer);
        const QStringList texts { QStringLiteral("plain"), QStringLiteral("a,b"), QStringLiteral("say \"x\""),
            QStringLiteral("two\r\nlines"), QString(), QStringLiteral(" edge "), QStringLiteral("模型") };
        for (const QString& text : texts)
            csv.text(text);
        csv.endRow();
        const double values[] = { 0.1, 1e-300, -1.7976931348623157e308, 5e-324, 1.0 / 3 };
        for (const double value : values)
            csv.number(value);
        csv.number(std::nan("")).number(INFINITY).number(-INFINITY).empty();
        csv.endRow();
        QVERIFY(csv.finish().has_value());
        const QList<QStringList> rows = parse(buffer.data());
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0], texts);
        for (int i = 0; i < 5; ++i)
            QCOMPARE(rows[1][i].toDouble(), values[i]);
        QCOMPARE(rows[1].mid(5),
            QStringList({ QStringLiteral("NaN"), QStringLiteral("Inf"), QStringLiteral("-Inf"), QString() }));
    }

    void noTextCellCanBecomeAFormula()
    {
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        CsvWriter csv(&buffer);
        for (const char* text : { "=1+1", "+x", "-x", "@x", "\tx", "=cmd|' /C calc'!A0,\"" })
            csv.text(QLatin1String(text));
        csv.endRow();
        QVERIFY(csv.finish().has_value());
        const QList<QStringList> rows = parse(buffer.data());
        for (const QString& cell : rows[0])
            QVERIFY2(cell.startsWith(QLatin1Char('\'')), qPrintable(cell));
    }

    void aDeviceThatRefusesIsAnError()
    {
        FullDisk disk;
        QVERIFY(disk.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        CsvWriter csv(&disk);
        csv.text(QStringLiteral("x"));
        csv.endRow();
        QVERIFY(!csv.finish().has_value());
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, Common)

}

#include "tst_common.moc"
