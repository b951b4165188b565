// SPDX-License-Identifier: GPL-3.0-or-later
// Notes from the command line: what `telltale note` writes, `telltale log` lists, and the record is a change of the
// same one when it is edited or removed.
#include "testmain.h"

#include <QTemporaryDir>

#include <telltale/store/archive.h>
#include <telltale/store/stepnote.h>
#include <telltale/store/storeservice.h>

#include "../views/shellfixture.h"
#include "verbcall.h"

namespace notetest {

using namespace telltale;
using telltale::test::call;

class NoteTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_data = m_dir->path().toStdString();
        telltale::test::DemoCapsule capsule(m_data);
        capsule.write(100);
        m_run = capsule.path();
    }

    void whatIsNotedIsListed()
    {
        const auto noted = note({ "--step", "12:30", "warm-up, in two words" });
        QVERIFY2(noted.code == 0, noted.err.c_str());
        QVERIFY2(noted.out.find("noted at steps 12 to 30") != std::string::npos, noted.out.c_str());
        QVERIFY(note({ "--step", "40", "lr halved" }).code == 0);
        const auto log = call(app::logVerb, { m_run, "--kind", "note" });
        QVERIFY2(log.out.find("warm-up, in two words (to step 30)") != std::string::npos, log.out.c_str());
        QVERIFY2(log.out.find("lr halved\n") != std::string::npos, log.out.c_str());
        const auto json = call(app::logVerb, { m_run, "--kind", "note", "--json" }).json();
        QCOMPARE(json.size(), std::size_t { 2 });
        QCOMPARE(json[0]["step"].get<int>(), 12);
        QCOMPARE(json[0]["last_step"].get<int>(), 30);
        QCOMPARE(json[0]["rank"].get<int>(), -1);
        QVERIFY(!json[0]["author"].get<std::string>().empty());
        // The steps that they are at choose them, too.
        QCOMPARE(call(app::logVerb, { m_run, "--kind", "note", "--steps", "35:50", "--json" }).json().size(),
            std::size_t { 1 });
    }

    void aNoteIsChangedAndRemoved()
    {
        QCOMPARE(note({ "--step", "40", "lr halved" }).code, 0);
        const std::string id = idOf();
        QCOMPARE(note({ "--edit", id, "lr quartered" }).code, 0);
        QCOMPARE(notes().size(), std::size_t { 1 });
        QCOMPARE(notes().front()["text"].get<std::string>(), std::string("lr quartered"));
        QCOMPARE(idOf(), id);
        QCOMPARE(note({ "--remove", id }).code, 0);
        QCOMPARE(notes().front()["text"].get<std::string>(), std::string("lr quartered (removed)"));
        QCOMPARE(note({ "--edit", id, "it was right" }).code, 0); // and back
        QCOMPARE(notes().front()["text"].get<std::string>(), std::string("it was right"));
        QCOMPARE(notes().size(), std::size_t { 1 });
    }

    void badInputSaysWhatToDo_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no place") << QStringList { QStringLiteral("text") } << QStringLiteral("--step A[:B]");
        QTest::newRow("two places") << QStringList { QStringLiteral("--step"), QStringLiteral("1"),
            QStringLiteral("--edit"), QStringLiteral("4"), QStringLiteral("x") }
                                    << QStringLiteral("say where the note stands");
        QTest::newRow("no text") << QStringList { QStringLiteral("--step"), QStringLiteral("1") }
                                 << QStringLiteral("no text");
        QTest::newRow("blank") << QStringList { QStringLiteral("--step"), QStringLiteral("1"), QStringLiteral("  ") }
                               << QStringLiteral("no text");
        QTest::newRow("not a step") << QStringList { QStringLiteral("--step"), QStringLiteral("soon"),
            QStringLiteral("x") } << QStringLiteral("soon");
        QTest::newRow("no such note") << QStringList { QStringLiteral("--edit"), QStringLiteral("99"),
            QStringLiteral("x") } << QStringLiteral("no note 99");
        QTest::newRow("too long") << QStringList { QStringLiteral("--step"), QStringLiteral("1"),
            QString(2001, QLatin1Char('x')) }
                                  << QStringLiteral("2000 bytes at most");
    }

    void badInputSaysWhatToDo()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, sentence);
        std::vector<std::string> given;
        for (const QString& word : words)
            given.push_back(word.toStdString());
        const auto outcome = note(given);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.err.find(sentence.toStdString()) != std::string::npos, outcome.err.c_str());
        QVERIFY(notes().empty());
    }

    void whereNobodyTakesRequestsItSaysSo()
    {
        const auto service = store::StoreService::start({ m_data });
        QVERIFY(service);
        const auto outcome = note({ "--step", "40", "lr halved" });
        // A store alone takes no requests.
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.err.find("no Telltale is running on") != std::string::npos, outcome.err.c_str());
    }

private:
    telltale::test::Outcome note(std::vector<std::string> words) const
    {
        words.insert(words.begin(), m_run);
        words.insert(words.end(), { "--data-dir", m_data });
        return call(app::noteVerb, words);
    }
    nlohmann::json notes() const { return call(app::logVerb, { m_run, "--kind", "note", "--json" }).json(); }
    std::string idOf() const { return std::to_string(notes().front()["id"].get<std::int64_t>()); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_data;
    std::string m_run;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, NoteTest)

}

#include "notetest.moc"
