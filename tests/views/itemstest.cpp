// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QAbstractItemModelTester>
#include <QImage>
#include <QPainter>
#include <QPersistentModelIndex>
#include <QRegularExpression>
#include <QSignalSpy>

#include <telltale/items/connectionsmodel.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/logmodel.h>
#include <telltale/items/rowsync.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/saidwords.h>
#include <telltale/runs/stateglyph.h>

namespace itemstest {

using namespace telltale;
using namespace telltale::items;

namespace {

store::RunSummary run(const char* id, store::RunState state = store::RunState::Finished, std::int64_t step = 10)
{
    store::RunSummary summary;
    summary.id = id;
    summary.locator = store::RunLocator::ofFile(std::string("/runs/") + id);
    summary.name = std::string("run ") + id;
    summary.state = state;
    summary.ranks = 8;
    summary.lastStep = Step { step };
    return summary;
}

ConnectionInfo agent(int rank)
{
    ConnectionInfo info;
    info.agentId = "agent-" + std::to_string(rank);
    info.runName = "gpt";
    info.rank = Rank { rank };
    info.connected = true;
    return info;
}

QString textsOf(const LogModel& model)
{
    QString all;
    for (int row = 0; row < model.rowCount(); ++row)
        all += model.entry(row).text + u' ';
    return all;
}

}

class ItemsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }

    void runsStandUnderLiveAndArchived()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(model.isEmpty());
        model.setArchived({ run("a"), run("b"), run("c", store::RunState::Failed) });
        model.setLive({ run("l", store::RunState::Live) });
        QCOMPARE(model.rowCount(model.index(RunsModel::LiveGroup, 0)), 1);
        QCOMPARE(model.rowCount(model.index(RunsModel::ArchivedGroup, 0)), 3);
        QCOMPARE(model.index(RunsModel::ArchivedGroup, 0).data(CountRole).toInt(), 3);
        const QModelIndex c = model.indexOf(QStringLiteral("c"));
        QCOMPARE(c.data().toString(), QStringLiteral("run c"));
        QCOMPARE(model.runAt(c)->state, store::RunState::Failed);
        QVERIFY(!model.runAt(model.index(0, 0)));
    }

    void aRefreshKeepsWhatIsSelected()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setArchived({ run("a"), run("b"), run("c"), run("d") });
        const QPersistentModelIndex c = model.indexOf(QStringLiteral("c"));
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        model.setArchived({ run("new1"), run("new2"), run("d"), run("c"), run("a") });
        QVERIFY(c.isValid());
        QCOMPARE(c.data(KeyRole).toString(), QStringLiteral("c"));
        QCOMPARE(c.row(), 3);
        QCOMPARE(inserted.count(), 1); // both new rows in one batch
        model.setArchived({});
        QVERIFY(!c.isValid());
    }

    void foldersAreHeadingsOfTheirOwn()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto inFolder = [](const char* id, const char* folder, bool isElsewhere = false) {
            store::RunSummary summary = run(id);
            summary.folder = folder;
            summary.isElsewhere = isElsewhere;
            return summary;
        };
        model.setArchived({ run("a"), inFolder("z", "z"), inFolder("far", "/mnt/team", true) });
        const QPersistentModelIndex z = model.indexOf(QStringLiteral("z"));
        // One that comes before another moves it, and what was selected there stays so.
        model.setArchived({ run("a"), inFolder("m", "m/x"), inFolder("z", "z"), inFolder("far", "/mnt/team", true) });
        QStringList headings;
        for (int row = 0; row < model.rowCount(); ++row)
            headings.append(model.index(row, 0).data().toString());
        QCOMPARE(
            headings.join(u' '), QStringLiteral("Live Archived m/x z /mnt/team")); // those that are only read come last
        QCOMPARE(model.folders().join(u' '), QStringLiteral("m m/x z"));
        QCOMPARE(z.data(KeyRole).toString(), QStringLiteral("z"));
        QCOMPARE(z.parent().data().toString(), QStringLiteral("z"));
        QCOMPARE(model.runs(RunsModel::ArchivedGroup).size(), std::size_t { 4 });
        QVERIFY(model.isOurs(z) && !model.isOurs(model.indexOf(QStringLiteral("far"))));
        QVERIFY(!model.flags(model.indexOf(QStringLiteral("far"))).testFlag(Qt::ItemIsEditable));
        model.setGroupBy(RunsModel::GroupBy::Name);
        QCOMPARE(model.indexOf(QStringLiteral("m")).parent().data().toString(), QStringLiteral("run m"));
        model.setArchived({ run("a") });
        model.setGroupBy(RunsModel::GroupBy::Folder);
        QCOMPARE(model.rowCount(), 2);
    }

    void anIdThatGoesToAnotherRunIsThatOnes()
    {
        RunsModel model;
        store::RunSummary copy = run("a");
        copy.locator = store::RunLocator::ofFile("/runs/copy.telltale");
        copy.id = "a-2";
        model.setArchived({ run("a"), copy });
        store::RunSummary other = copy; // counted on before the first one
        other.locator = store::RunLocator::ofFile("/far/copy.telltale");
        copy.id = "a-3";
        model.setArchived({ run("a"), copy, other });
        QCOMPARE(model.runAt(model.indexOf(QStringLiteral("a-2")))->locator, other.locator);
        QCOMPARE(model.runAt(model.indexOf(QStringLiteral("a-3")))->locator, copy.locator);
    }

    void pinnedRunsSaySoWhereverTheyAre()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto pinned = [](const char* id) {
            store::RunSummary summary = run(id);
            summary.isPinned = true;
            return summary;
        };
        model.setLive({ run("live") });
        model.setArchived({ pinned("a"), run("b"), pinned("live") });
        const auto isPinned
            = [&model](const char* id) { return model.indexOf(QString::fromLatin1(id)).data(PinnedRole).toBool(); };
        QVERIFY(isPinned("a") && !isPinned("b") && isPinned("live"));
        QVERIFY(model.indexOf(QStringLiteral("a"))
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("pinned")));
        model.setLive({ run("live") }); // its figures come every second, and do not say so
        QVERIFY(isPinned("live"));
        const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        model.setArchived({ run("a"), run("b"), run("live") });
        QVERIFY(!isPinned("a") && !isPinned("live"));
        QCOMPARE(changed.count(), 2);
    }

    void aRunThatIsLiveIsNotArchivedAsWell()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setArchived({ run("a"), run("b") });
        model.setLive({ run("a", store::RunState::Live) });
        QCOMPARE(model.rowCount(model.index(RunsModel::ArchivedGroup, 0)), 1);
        model.setArchived({ run("a"), run("b") });
        QCOMPARE(model.rowCount(model.index(RunsModel::ArchivedGroup, 0)), 1);
    }

    void runsOfOneNameHaveTheirIds()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        store::RunSummary later = run("b");
        later.name = "run a";
        later.createdNs = 1'700'000'000'000'000'000; // which alone would tell it from the other
        model.setArchived({ run("a"), later, run("c") });
        const auto name = [&model](const char* id) { return model.indexOf(QString::fromLatin1(id)).data().toString(); };
        QCOMPARE(name("a"), QStringLiteral("run a #a"));
        QCOMPARE(name("b"), QStringLiteral("run a #b"));
        QCOMPARE(name("c"), QStringLiteral("run c"));
    }

    void theColumnSaysInBriefWhenARunBeganAndTheTipAllOfIt()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QDate today = QDate::currentDate();
        const QDate ofYear = today.addDays(today.dayOfYear() > 1 ? -1 : 1);
        for (const auto& [day, brief] : { std::pair { today, QStringLiteral("10:20") },
                 std::pair { ofYear, ofYear.toString(QStringLiteral("MM-dd")) },
                 std::pair { today.addYears(-2), today.addYears(-2).toString(QStringLiteral("yyyy-MM")) } }) {
            store::RunSummary one = run("a");
            one.createdNs = QDateTime(day, QTime(10, 20, 30)).toMSecsSinceEpoch() * 1'000'000;
            model.setArchived({ one });
            const QModelIndex started = model.indexOf(QStringLiteral("a")).siblingAtColumn(RunsModel::StartedColumn);
            QCOMPARE(started.data().toString(), brief);
            QCOMPARE(started.data(SortRole).toLongLong(), one.createdNs);
            const QString whole = day.toString(QStringLiteral("yyyy-MM-dd 10:20:30"));
            QVERIFY(started.data(Qt::ToolTipRole).toString().contains(whole));
        }
    }

    void aRunThatWasFoundDamagedIsNotListedAsFinished()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setArchived({ run("a"), run("b") });
        model.setDamage(store::RunLocator::ofFile("/runs/b"), "its list of series cannot be read completely");
        const auto stateOf = [&model](const char* id) {
            return static_cast<store::RunState>(model.indexOf(QString::fromLatin1(id)).data(StateRole).toInt());
        };
        QCOMPARE(stateOf("b"), store::RunState::Damaged);
        QVERIFY(model.indexOf(QStringLiteral("b"))
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("its list of series")));
        QCOMPARE(stateOf("a"), store::RunState::Finished);
        model.setArchived({ run("a"), run("b") }); // listed again, without reading
        QCOMPARE(stateOf("b"), store::RunState::Damaged);
        model.setDamage(store::RunLocator::ofFile("/runs/b"), {});
        model.setArchived({ run("a"), run("b") });
        QCOMPARE(stateOf("b"), store::RunState::Finished);
    }

    void aRunThatWentWrongSaysSo()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QSignalSpy wanted(&model, &RunsModel::profilesWanted);
        model.setLive({ run("live", store::RunState::Live) });
        store::RunSummary listed = run("live", store::RunState::Live); // as the archive has its file
        listed.createdNs = 1'700'000'000'000'000'000;
        model.setArchived({ run("a"), run("b"), run("c"), listed });
        QCOMPARE(wanted.count(), 1);
        model.setLive({ run("live", store::RunState::Live) }); // its own figures do not say when it began
        const QModelIndex live = model.indexOf(QStringLiteral("live"));
        QVERIFY(!live.siblingAtColumn(RunsModel::StartedColumn).data().toString().isEmpty());

        const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        const auto profileOf = [](std::size_t warnings, std::size_t criticals) {
            archive::RunProfile profile;
            profile.incidents = { 3, warnings, criticals };
            return std::make_shared<const archive::RunProfile>(std::move(profile));
        };
        model.setProfiles({ { store::RunLocator::ofFile("/runs/a"), profileOf(3, 2) },
            { store::RunLocator::ofFile("/runs/b"), profileOf(0, 0) },
            { store::RunLocator::ofFile("/runs/c"), profileOf(1, 0) } });
        model.setIncidents({ { store::RunLocator::ofFile("/runs/live"), { 0, 0, 2 } } });
        const auto severities = [&model] {
            QList<int> found;
            for (const char* id : { "a", "b", "c", "live" })
                found.append(model.indexOf(QString::fromLatin1(id)).data(SeverityRole).toInt());
            return found;
        };
        QCOMPARE(severities(), (QList<int> { 2, 0, 1, 2 }));
        QCOMPARE(changed.count(), 4); // with what only its tool tip would say of b
        const auto tip = [&model](const char* id) {
            return model.indexOf(QString::fromLatin1(id)).data(Qt::ToolTipRole).toString();
        };
        QVERIFY2(tip("a").contains(QStringLiteral("finished; 2 critical incidents, 3 warnings")), qPrintable(tip("a")));
        QVERIFY2(!tip("b").contains(u';'), qPrintable(tip("b")));
        QVERIFY2(tip("live").contains(QStringLiteral("live; 2 critical incidents")), qPrintable(tip("live")));
        QVERIFY(model.indexOf(QStringLiteral("a")).data(Qt::AccessibleTextRole).toString().contains(u"critical"));
        // It is shown, not only known.
        const auto painted = [](int loudness) {
            QImage image(16, 16, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            views::paintRunState(&painter, image.rect(), store::RunState::Finished, loudness);
            return image;
        };
        QVERIFY(painted(0) != painted(1) && painted(1) != painted(2) && painted(0) != painted(2));
    }

    void aLossOfNobodyKnowsHowMuchIsNotSaidToBeNothing()
    {
        store::Catalog catalog;
        for (const std::uint64_t items : { 0u, 5u }) {
            store::LogRecord record;
            record.isDrop = true;
            record.items = items;
            record.text = "its process is gone";
            catalog.unaccounted.push_back(record);
        }
        LogModel model;
        model.setDirectory(&catalog);
        const auto message
            = [&model](int row) { return model.index(row, LogModel::ColumnCount - 1).data().toString(); };
        QCOMPARE(message(0), QStringLiteral("its process is gone"));
        QCOMPARE(message(1), QStringLiteral("5 items were not stored: its process is gone"));
    }

    void whatIsSaidOfAnIncidentSaysSoInTheLog()
    {
        LogModel model;
        store::LogPage page;
        for (const auto& [json, text] : { std::pair(R"({"incident": 3, "action": "true"})", "true"),
                 std::pair(R"({"incident": 3, "action": "note"})", "the loss scale") }) {
            store::LogRecord& record = page.records.emplace_back();
            record.kind = judge::kAnnotationRecord;
            record.steps = { Step { 7 }, Step { 7 } };
            record.json = json;
            record.text = text;
        }
        model.append(page.records);
        QVERIFY2(textsOf(model).contains(QStringLiteral("the incident of this step is a true alarm")),
            qPrintable(textsOf(model)));
        QVERIFY(textsOf(model).contains(QStringLiteral("on the incident of this step: the loss scale")));
    }

    void syncedRowsEqualTheWantedOnes()
    {
        std::uint32_t seed = 7;
        const auto next = [&seed](std::uint32_t below) {
            seed = seed * 1664525u + 1013904223u;
            return (seed >> 8) % below;
        };
        for (int round = 0; round < 500; ++round) {
            std::vector<int> have, wanted;
            for (int value = 0; value < 12; ++value) {
                if (next(2) != 0)
                    have.insert(
                        have.begin() + static_cast<std::ptrdiff_t>(next(static_cast<std::uint32_t>(have.size()) + 1)),
                        value);
                if (next(2) != 0)
                    wanted.insert(wanted.begin()
                            + static_cast<std::ptrdiff_t>(next(static_cast<std::uint32_t>(wanted.size()) + 1)),
                        value);
            }
            std::vector<int> rows = have;
            RowOperations operations;
            operations.remove = [&](int first, int last) { rows.erase(rows.begin() + first, rows.begin() + last + 1); };
            operations.move = [&](int from, int to) {
                const int value = rows[static_cast<std::size_t>(from)];
                rows.erase(rows.begin() + from);
                rows.insert(rows.begin() + to, value);
            };
            operations.insert = [&](int row, int first, int count) {
                rows.insert(rows.begin() + row, wanted.begin() + first, wanted.begin() + first + count);
            };
            syncRows(have, wanted, operations);
            QCOMPARE(rows, wanted);
        }
    }

    void linesOfTheLogAreInsertedInTheOrderOfTime()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto record = [](std::int64_t wallNs, const char* text) {
            store::LogRecord made;
            made.kind = "note";
            made.wallNs = wallNs;
            made.steps = { Step { 1 }, Step { 1 } };
            made.text = text;
            return made;
        };
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        const QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        model.append({ record(10, "a"), record(30, "c"), record(20, "b") });
        QCOMPARE(inserted.count(), 1);
        const QPersistentModelIndex c = model.index(2, 0);
        model.add({ 25, -1, -1, {}, QStringLiteral("own"), 0 });
        model.append({ record(30, "d"), record(15, "late"), record(0, "timeless"), record(40, "e") });
        QCOMPARE(textsOf(model), QStringLiteral("timeless a late b own c d e "));
        QCOMPARE(c.row(), 5);
        store::Catalog catalog;
        catalog.damage = { "broken" };
        model.setDirectory(&catalog);
        model.setDirectory(&catalog);
        QCOMPARE(textsOf(model), QStringLiteral("broken timeless a late b own c d e "));
        catalog.damage.clear();
        model.setDirectory(&catalog);
        QCOMPARE(model.rowCount(), 8);
        QVERIFY(model.isOfRun(QStringLiteral("late")) && !model.isOfRun(QStringLiteral("own")));
        QCOMPARE(resets.count(), 0);
        model.clearRun();
        QCOMPARE(textsOf(model), QStringLiteral("own "));
    }

    void aLossThatGrowsIsOneLine()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto loss = [](std::int64_t source, std::uint64_t items, std::uint32_t dropClass = dropclass::kEvents) {
            store::LogRecord record;
            record.kind = "drop";
            record.isDrop = true;
            record.source = SourceId { source };
            record.dropClass = dropClass;
            record.items = items;
            record.steps = { Step { 1 }, Step { static_cast<std::int64_t>(items) } };
            record.text = "too many events";
            return record;
        };
        model.append({ loss(1, 5), loss(2, 6) });
        const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        model.append({ loss(1, 900) });
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(model.entry(0).text.contains(QStringLiteral("900")));
        QCOMPARE(changed.count(), 1);
        model.append({ loss(1, 900, dropclass::kTensors) }); // which steps have none is told of each stretch
        model.append({ loss(1, 900, dropclass::kTensors) });
        QCOMPARE(model.rowCount(), 4);
    }

    void aChangedLineIsShownWhereItStands()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto record = [](std::int64_t id, const char* text, bool isChanged = false) {
            store::LogRecord made;
            made.id = id;
            made.wallNs = 100 + id / 2; // some at the same time
            made.steps = { Step { 1 }, Step { 1 } };
            made.text = text;
            made.isChanged = isChanged;
            return made;
        };
        model.add({ 101, -1, -1, {}, QStringLiteral("own"), 0 });
        model.append({ record(1, "a"), record(2, "b"), record(3, "c") });
        const QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        model.append({ record(3, "c2", true), record(4, "d") });
        QCOMPARE(textsOf(model), QStringLiteral("a own b c2 d "));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(changed[0][0].toModelIndex().row(), 3);
        QCOMPARE(changed[0][1].toModelIndex().row(), 3);
        model.append({ record(3, "c2", true) }); // as another page tells it again
        QCOMPARE(changed.count(), 1);
        QCOMPARE(inserted.count(), 1);
        model.append({ record(1, "a2", true), record(9, "new", true) });
        QCOMPARE(textsOf(model), QStringLiteral("a2 own b c2 d new "));
        QCOMPARE(changed.count(), 2);
        QCOMPARE(inserted.count(), 2);
    }

    void countsInSentencesAreWrittenAsElsewhere()
    {
        QCOMPARE(
            saidwords::inLanguage(QStringLiteral("steps 0 to 1599 were judged: 4500 tensors and scalars, by 19 rules")),
            QStringLiteral("steps 0 to 1\u202F599 were judged: 4\u202F500 tensors and scalars, by 19 rules"));
        QCOMPARE(saidwords::inLanguage(QStringLiteral("mean over 512 of 4096 queries of each of 8 sequences, masked")),
            QStringLiteral("mean over 512 of 4\u202F096 queries of each of 8 sequences, masked"));
        const QString process = QStringLiteral("another Telltale (process 4500) writes to /runs");
        QCOMPARE(saidwords::inLanguage(process), process);
    }

    void whatWasJudgedStandsAtItsEnd()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        store::LogRecord judged;
        judged.kind = judge::kJudgedRecord;
        judged.id = 1;
        judged.wallNs = 100;
        judged.steps = { Step { 0 }, Step { 0 } };
        store::LogRecord other;
        other.id = 2;
        other.wallNs = 200;
        other.steps = { Step { 1 }, Step { 1 } };
        other.text = "of step 1";
        model.append({ judged, other });
        QCOMPARE(model.entry(0).kind, QStringLiteral("judged"));
        store::LogRecord later = judged;
        later.id = 3;
        later.ref = 1;
        later.wallNs = 300;
        later.steps.last = Step { 9 };
        judged.fold(later);
        QVERIFY(judged.wallNs == 100); // as it is stored
        model.append({ judged });
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(textsOf(model), QStringLiteral("of step 1  "));
        QVERIFY(model.entry(1).wallNs == 300 && model.entry(1).step == 9);
    }

    void theOldestLinesGiveWayToNewOnes()
    {
        LogModel model;
        model.add({ 1, -1, -1, {}, QStringLiteral("own"), 0 });
        store::LogRecord loss;
        loss.kind = "drop";
        loss.isDrop = true;
        model.append({ loss });
        constexpr int kAll = 3 * LogModel::kMostOfRun;
        for (int i = 0; i < kAll; i += 1000) {
            std::vector<store::LogRecord> page(1000);
            for (int k = 0; k < 1000; ++k)
                page[static_cast<std::size_t>(k)].wallNs = 10 + i + k;
            model.append(page);
        }
        QVERIFY(model.rowCount() <= LogModel::kMostOfRun + 1001);
        QCOMPARE(model.rowCount() + model.omitted(), qint64 { kAll + 2 });
        QCOMPARE(model.entry(0).kind, QStringLiteral("drop")); // a loss stays
        QCOMPARE(model.entry(1).text, QStringLiteral("own"));
        QCOMPARE(model.entry(model.rowCount() - 1).wallNs, qint64 { 10 + kAll - 1 });
    }

    void agentsStandByRankAndChangeInPlace()
    {
        ConnectionsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.set({ agent(2), agent(0), agent(1) });
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.index(2, ConnectionsModel::RankColumn).data().toString(), QStringLiteral("2"));
        const QPersistentModelIndex two = model.index(2, 0);
        ConnectionInfo refused = agent(2);
        refused.connected = false;
        refused.lastRefusal = "wrong token";
        refused.droppedSamples = 3;
        model.set({ agent(0), refused });
        QVERIFY(two.isValid());
        QCOMPARE(two.row(), 1);
        QCOMPARE(QModelIndex(two).siblingAtColumn(ConnectionsModel::StateColumn).data().toString(),
            QStringLiteral("wrong token"));
        QCOMPARE(QModelIndex(two).siblingAtColumn(ConnectionsModel::DroppedColumn).data(SeverityRole).toInt(), 1);
        model.set({});
        QCOMPARE(model.rowCount(), 0);
    }

    void numbersStandRightInTheirColumns()
    {
        const auto isRight = [](const QAbstractItemModel& model, int column) {
            return (model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0;
        };
        ConnectionsModel agents;
        agents.set({ agent(0) });
        for (const int column : { ConnectionsModel::RankColumn, ConnectionsModel::LagColumn })
            QVERIFY(isRight(agents, column));
        QVERIFY(agents.index(0, ConnectionsModel::RankColumn).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
        QVERIFY(!isRight(agents, ConnectionsModel::RunColumn));
        const IncidentsModel incidents;
        for (const int column :
            { IncidentsModel::StepColumn, IncidentsModel::RankColumn, IncidentsModel::FoldedColumn })
            QVERIFY(isRight(incidents, column));
        QVERIFY(!isRight(incidents, IncidentsModel::PlaceColumn));
    }

    void whoSaidGoodbyeHasEndedAndHasNoRate()
    {
        ConnectionsModel model;
        ConnectionInfo ended = agent(0);
        ended.connected = false;
        ended.saidBye = true;
        ended.samplesPerSecond = 341'000;
        ConnectionInfo lost = ended;
        lost.rank = Rank { 1 };
        lost.saidBye = false;
        model.set({ ended, lost });
        const auto at = [&model](int row, int column) { return model.index(row, column); };
        QCOMPARE(at(0, ConnectionsModel::StateColumn).data().toString(), QStringLiteral("ended"));
        QCOMPARE(at(0, ConnectionsModel::StateColumn).data(SeverityRole).toInt(), 0);
        QCOMPARE(at(1, ConnectionsModel::StateColumn).data().toString(), QStringLiteral("not connected"));
        QCOMPARE(at(1, ConnectionsModel::StateColumn).data(SeverityRole).toInt(), 1);
        for (const int row : { 0, 1 }) {
            QCOMPARE(at(row, ConnectionsModel::RateColumn).data().toString(), QStringLiteral("\u2013"));
            QCOMPARE(at(row, ConnectionsModel::RateColumn).data(SortRole).toInt(), 0);
        }
        QCOMPARE(at(0, ConnectionsModel::LagColumn).data().toString(), QStringLiteral("\u2013"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ItemsTest)

}

#include "itemstest.moc"
