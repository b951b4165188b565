// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <filesystem>
#include <sstream>

#include <QAbstractItemView>
#include <QAction>
#include <QBuffer>
#include <QFile>
#include <QLabel>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTextDocument>

#include <nlohmann/json.hpp>

#include <telltale/common/csv.h>
#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/plaintext.h>
#include <telltale/items/connectionsmodel.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/runactions.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/toaster.h>
#include <telltale/store/querypool.h>
#include <telltale/store/runfiles.h>

#include "../store/capsulebuilder.h"
#include "terminalstream.h"
#include "verbs.h"

namespace hostilenamestest {

using namespace telltale;
using namespace telltale::shell;

namespace {

/// One name that tries everything: a tag, an escape sequence, a C1 control, a direction override, a second line.
const std::string kHostile = "<img src=x>&amp;<b>bold\x1b]0;owned\x07\x1b[2J\xC2\x9B"
                             "31m\xE2\x80\xAE"
                             "live\nFAKE line\x7F";
const std::string kFormula = "=cmd|' /C calc'!A0";

QString hostile()
{
    return QString::fromStdString(kHostile);
}

using Verb = app::Verb (*)();

/// What the terminal gets.
std::string shown(Verb verb, std::vector<std::string> words)
{
    std::ostringstream out;
    {
        const app::TerminalStream guard(out);
        app::runVerb(verb(), words, out, out);
    }
    return out.str();
}

/// The sequences of `text` that a terminal would obey.
std::string obeyed(const std::string& text)
{
    std::string found;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n') || byte == 0x7F)
            found += "control " + std::to_string(byte) + ' ';
    }
    for (const char* sequence : { "\xC2\x9B", "\xE2\x80\xAE" }) {
        if (text.find(sequence) != std::string::npos)
            found += "sequence ";
    }
    return found;
}

}

/// Names, hosts, reasons and paths come from whoever streams or sends a file. Thread: the test's.
class HostileNamesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        const std::string runs = m_dir->path().toStdString() + "/runs";
        std::filesystem::create_directories(runs);
        m_path = runs + "/2026-01-02_gpt_abc123.telltale";
        test::CapsuleBuilder builder(m_path, kHostile);
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0, kHostile);
        const auto tensors = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { kHostile, kFormula, "a.weight" });
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { kHostile, kFormula });
        std::vector<StepBlock> blocks;
        for (int step = 0; step < 8; ++step) {
            StepBlock block;
            block.layout = tensors;
            block.step = Step { step };
            block.wallNs = 1'700'000'000'000'000'000 + step;
            block.columns = { { Stat::Norm, std::vector<float> { 1.F, 2.F, step == 5 ? NAN : 3.F } } };
            blocks.push_back(block);
            block.layout = scalars;
            block.columns = { { Stat::Value, std::vector<double> { 1, 2 } } };
            blocks.push_back(block);
        }
        const Event event { kHostile, Step { 3 }, 1'700'000'000'000'000'003, kHostile, "{\"x\":1}" };
        builder.stage(stream, std::move(blocks), { { 2, Step { 4 }, Step { 4 }, 7, 0, kHostile } }, { event });
        builder.commit();
        builder.finish();
    }
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }

    void noLabelToolTipOrDialogTakesANameForHtml()
    {
        store::QueryPool pool(2);
        AppContext context;
        context.queries = &pool;
        context.dataDir = m_dir->path().toStdString();
        context.connections = [] {
            ConnectionInfo info;
            info.agentId = info.runName = info.framework = info.agentVersion = info.peer = info.lastRefusal = kHostile;
            return std::vector<ConnectionInfo> { info };
        };
        MainWindow window(context, settings::LoadedSettings {});
        window.toaster()->setAnimated(false);
        window.resize(1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        auto* state = window.findChild<views::ViewState*>();
        QVERIFY(state);
        QTRY_VERIFY_WITH_TIMEOUT(state->catalog(), 20'000);
        window.toaster()->post(Toaster::Severity::Warning, hostile());
        auto* connections = window.findChild<items::ConnectionsModel*>();
        QVERIFY(connections);
        QTRY_VERIFY(connections->rowCount() == 1);

        int seen = 0;
        const auto check = [&seen](const QString& text, const QString& where) {
            if (!text.contains(QLatin1String("img src")))
                return;
            ++seen;
            if (where == QLatin1String("a cell") || where.startsWith(QLatin1String("tool tip")))
                QVERIFY2(obeyed(text.toStdString()).empty(), qPrintable(where + QLatin1String(": ") + text));
            QTextDocument document;
            document.setHtml(text);
            QVERIFY2(!Qt::mightBeRichText(text) || document.toPlainText().contains(QLatin1String("<img src=x>&amp;")),
                qPrintable(where + QLatin1String(": ") + text));
        };
        QTRY_VERIFY(window.windowTitle().contains(QLatin1String("img src")));
        QVERIFY(obeyed(window.windowTitle().toStdString()).empty());
        for (QWidget* widget : window.findChildren<QWidget*>()) {
            check(widget->toolTip(), QStringLiteral("tool tip of ") + widget->objectName());
            check(widget->whatsThis(), QStringLiteral("help of ") + widget->objectName());
            if (const auto* label = qobject_cast<QLabel*>(widget); label && label->textFormat() != Qt::PlainText)
                check(label->text(), QStringLiteral("label ") + label->objectName());
        }
        for (const QAction* action : window.findChildren<QAction*>())
            check(action->toolTip(), action->text());
        for (const auto* view : window.findChildren<QAbstractItemView*>()) {
            if (view->model())
                checkModel(*view->model(), {}, check);
        }
        QVERIFY2(seen >= 4, qPrintable(QStringLiteral("the names were shown in %1 tool tips only").arg(seen)));
        if (QTest::currentTestFailed())
            return;

        // The question before deleting shows the run's name.
        QCOMPARE(window.runActions()->questionBox(hostile(), QString(), QString())->textFormat(), Qt::PlainText);

        // Tables: no cell is a formula, and a name with a line end stays one cell.
        int tables = 0;
        for (const auto* view : window.findChildren<views::DataView*>()) {
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            if (!view->writeCsv(&buffer))
                continue;
            ++tables;
            static const QRegularExpression kRunnable(
                QStringLiteral("(^|,)\"?[=+@]"), QRegularExpression::MultilineOption);
            QVERIFY2(!kRunnable.match(QString::fromUtf8(buffer.data())).hasMatch(), buffer.data().constData());
            for (const QByteArray& line : buffer.data().split('\n')) {
                const std::string text = line.chopped(line.endsWith('\r') ? 1 : 0).toStdString();
                QCOMPARE(text, terminalText(text));
            }
        }
        QVERIFY(tables > 0);
    }

    void noCellRunsAsAFormula_data()
    {
        QTest::addColumn<QString>("cell");
        const QStringView starts[] { u"=", u"+", u"-", u"@", u" =", u"\u00A0=", u"\u3000+", u"\uFEFF=", u"\t=", u"\r=",
            u"\n=", u"\uFF1D", u"\uFF20" };
        for (const QStringView start : starts)
            QTest::newRow(start.toUtf8().toHex().constData()) << start.toString() + u'1';
    }
    void noCellRunsAsAFormula()
    {
        QFETCH(QString, cell);
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        views::CsvWriter csv(&buffer);
        csv.text(cell).text(QStringLiteral("a-b"));
        csv.endRow();
        QVERIFY(csv.finish());
        const QString row = QString::fromUtf8(buffer.data());
        QVERIFY2(row.startsWith(u'\'') || row.startsWith(QLatin1String("\"'")), qPrintable(row));
        QVERIFY(row.contains(QLatin1String(",a-b")));
    }

    void noVerbSendsANameRawToTheTerminal_data()
    {
        QTest::addColumn<Verb>("verb");
        QTest::addColumn<QStringList>("words");
        const QString path = QString::fromStdString(m_path);
        QTest::newRow("runs") << Verb(&app::runsVerb) << QStringList { QStringLiteral("--data-dir"), m_dir->path() };
        QTest::newRow("inspect") << Verb(&app::inspectVerb) << QStringList { path, QStringLiteral("--names") };
        QTest::newRow("log") << Verb(&app::logVerb) << QStringList { path };
        QTest::newRow("show") << Verb(&app::showVerb) << QStringList { path, QStringLiteral("--series"), hostile() };
        QTest::newRow("show: an unknown name") << Verb(
            &app::showVerb) << QStringList { path, QStringLiteral("--series"), hostile() + QStringLiteral("2") };
        QTest::newRow("a path") << Verb(&app::inspectVerb) << QStringList { hostile() };
    }
    void noVerbSendsANameRawToTheTerminal()
    {
        QFETCH(Verb, verb);
        QFETCH(QStringList, words);
        std::vector<std::string> arguments;
        for (const QString& word : words)
            arguments.push_back(word.toStdString());
        const std::string text = shown(verb, arguments);
        QVERIFY2(obeyed(text).empty(), obeyed(text).c_str());
        QVERIFY2(text.find("\\u001b") != std::string::npos, text.c_str()); // it is there, as text
        QVERIFY2(text.find("\nFAKE") == std::string::npos, text.c_str());

        arguments.emplace_back("--json");
        std::string document = shown(verb, arguments);
        QVERIFY2(obeyed(document).empty(), obeyed(document).c_str());
        if (const auto sentence = document.find("telltale: "); sentence != std::string::npos)
            document.erase(sentence, document.find('\n', sentence) + 1 - sentence);
        const auto json = nlohmann::json::parse(document, nullptr, false);
        QVERIFY2(!json.is_discarded(), document.c_str());
        QVERIFY2(anyStringContains(json, kHostile), "the document keeps the name as it is");
    }

    void aNameNeverBecomesAPath()
    {
        for (const std::string& name : { std::string("../../etc/passwd"), std::string("/etc/passwd"), std::string(".."),
                 std::string(".hidden"), std::string(), kHostile, std::string("a\0b", 3), std::string(500, 'x') }) {
            const std::string file = fileNameText(name);
            QVERIFY2(!file.empty() && file.front() != '.' && file.size() <= 120, file.c_str());
            QVERIFY2(file.find_first_of(std::string("/\\\0\n\x1b :*?\"<>|", 14)) == std::string::npos, file.c_str());
            QVERIFY(obeyed(file).empty());
            const std::filesystem::path capsule("/data/runs/" + store::capsuleFileName(name, "abc", 0));
            QCOMPARE(capsule.lexically_normal().parent_path().string(), std::string("/data/runs"));
        }
        QCOMPARE(fileNameText("\xE6\x8D\x9F\xE5\xA4\xB1-7"), std::string("\xE6\x8D\x9F\xE5\xA4\xB1-7"));
        // Cut at a character.
        QCOMPARE(fileNameText("ab\xE6\x8D\x9F", 4), std::string("ab"));
    }

    void whatATerminalGetsIsWholeCharacters()
    {
        std::ostringstream out;
        {
            const app::TerminalStream guard(out);
            for (const char c : std::string("\xE6\x8D\x9F\xF0\x9F\x94\xA5 a\xFF"
                                            "b\tc\n\xE6\x8D"))
                out.put(c);
        }
        QCOMPARE(out.str(),
            std::string("\xE6\x8D\x9F\xF0\x9F\x94\xA5 a\xEF\xBF\xBD"
                        "b\tc\n\xEF\xBF\xBD\xEF\xBF\xBD"));
    }

private:
    template <typename Check>
    static void checkModel(const QAbstractItemModel& model, const QModelIndex& parent, const Check& check)
    {
        for (int row = 0; row < model.rowCount(parent); ++row) {
            for (int column = 0; column < model.columnCount(parent); ++column)
                check(model.index(row, column, parent).data(Qt::ToolTipRole).toString(), QStringLiteral("a cell"));
            checkModel(model, model.index(row, 0, parent), check);
        }
    }

    static bool anyStringContains(const nlohmann::json& json, const std::string& text)
    {
        if (json.is_string())
            return json.get<std::string>().find(text) != std::string::npos;
        return json.is_structured() && std::any_of(json.begin(), json.end(), [&](const nlohmann::json& part) {
            return anyStringContains(part, text);
        });
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_path;
};

TELLTALE_TEST(QTEST_MAIN, HostileNamesTest)

}

#include "hostilenamestest.moc"
