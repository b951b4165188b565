// SPDX-License-Identifier: GPL-3.0-or-later
// What the verbs write into the log, and the file that it is kept in.
#include "testmain.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <QTemporaryDir>

#include "log.h"
#include "verbcall.h"

namespace verblogtest {

using namespace telltale;
using namespace telltale::test;

class VerbLogTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theLogHasWhatItsLevelLetsThrough_data();
    void theLogHasWhatItsLevelLetsThrough();
    void whatRepeatsIsFoldedAndCounted();
    void theLogFileIsPrivateAndBoundedAndAPlainFile();
    void theLogFileHasTheErrorThatEndsAVerb();
};

namespace {

namespace fs = std::filesystem;

/// Runs a verb that says something along the way; the lines of the log's file, or the error.
std::vector<std::string> logOf(
    int (*saying)(const app::Args&, app::Report&), const std::string& path, std::vector<std::string> words = {})
{
    app::Verb verb;
    verb.name = "say";
    verb.run = saying;
    words.insert(words.end(), { "--log-file", path });
    std::ostringstream out;
    std::ostringstream err;
    if (app::runVerb(verb, words, out, err) != 0)
        return { err.str() };
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

bool isPrivate(const std::string& path)
{
    return (fs::status(path).permissions() & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write);
}

}

void VerbLogTest::theLogHasWhatItsLevelLetsThrough_data()
{
    QTest::addColumn<std::string>("level");
    QTest::addColumn<std::vector<std::string>>("expected");
    using Words = std::vector<std::string>;
    QTest::newRow("debug") << std::string("debug") << Words { "debug", "info", "warning", "error" };
    QTest::newRow("unsaid") << std::string() << Words { "info", "warning", "error" };
    QTest::newRow("warning") << std::string("warning") << Words { "warning", "error" };
    QTest::newRow("error") << std::string("error") << Words { "error" };
    QTest::newRow("off") << std::string("off") << Words {};
}

void VerbLogTest::theLogHasWhatItsLevelLetsThrough()
{
    QFETCH(std::string, level);
    QFETCH(std::vector<std::string>, expected);
    const auto saying = [](const app::Args&, app::Report&) {
        for (const auto one :
            { app::LogLevel::Debug, app::LogLevel::Info, app::LogLevel::Warning, app::LogLevel::Error })
            app::writeLog(one, "red\x1b[31m line\n");
        return 0;
    };
    std::vector<std::string> words;
    if (!level.empty())
        words = { "--log-level", level };
    const QTemporaryDir dir;
    const auto lines = logOf(saying, dir.path().toStdString() + "/log", words);
    QCOMPARE(lines.size(), expected.size());
    static const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\w+) +red\\u001b\[31m line\\u000a)");
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::smatch match;
        QVERIFY2(std::regex_match(lines[i], match, form), lines[i].c_str());
        QCOMPARE(match[1].str(), expected[i]);
    }
    const std::string wrong = call(app::runsVerb, { "--log-level", "loud" }).err;
    QVERIFY2(wrong.find("debug, info, warning, error or off") != std::string::npos, wrong.c_str());
}

void VerbLogTest::whatRepeatsIsFoldedAndCounted()
{
    const auto saying = [](const app::Args&, app::Report&) {
        for (int i = 0; i < 10'000; ++i) {
            app::writeLog(app::LogLevel::Warning, "the same");
            app::writeLog(app::LogLevel::Warning, "and between");
        }
        return 0;
    };
    const QTemporaryDir dir;
    const auto lines = logOf(saying, dir.path().toStdString() + "/log");
    QCOMPARE(lines.size(), std::size_t(4));
    QVERIFY2(lines[0].ends_with("the same") && lines[1].ends_with("and between"), lines[0].c_str());
    QVERIFY2(lines[2].ends_with("and between (9999 more since the last line)"), lines[2].c_str());
    QVERIFY2(lines[3].ends_with("the same (9999 more since the last line)"), lines[3].c_str());
}

void VerbLogTest::theLogFileIsPrivateAndBoundedAndAPlainFile()
{
    const auto saying = [](const app::Args&, app::Report&) {
        app::writeLog(app::LogLevel::Warning, "one more");
        return 0;
    };
    const QTemporaryDir dir;
    const std::string path = dir.path().toStdString() + "/log";
    QCOMPARE(logOf(saying, path).size(), std::size_t(1));
    QVERIFY(isPrivate(path));
    fs::permissions(path, fs::perms::others_read | fs::perms::group_read, fs::perm_options::add);
    QCOMPARE(logOf(saying, path).size(), std::size_t(2)); // continued
    QVERIFY(isPrivate(path));

    fs::resize_file(path, app::Log::kMaxFileBytes);
    QCOMPARE(logOf(saying, path).size(), std::size_t(1));
    QCOMPARE(fs::file_size(path + ".1"), app::Log::kMaxFileBytes);
    QVERIFY(isPrivate(path) && isPrivate(path + ".1"));

    // A device would be renamed when it has had its fill.
    for (const std::string& bad : { dir.path().toStdString(), std::string("/dev/null"), path + "/log" })
        QVERIFY2(logOf(saying, bad).at(0).find("the log file") != std::string::npos, bad.c_str());
}

void VerbLogTest::theLogFileHasTheErrorThatEndsAVerb()
{
    const QTemporaryDir dir;
    const std::string path = dir.path().toStdString() + "/errors.log";
    const Outcome failed
        = call(app::showVerb, { "no\x1brun", "--series", "x", "--log-file", path, "--log-level", "error" });
    QCOMPARE(failed.code, app::kExitUsage);
    std::ifstream file(path);
    const std::string kept(std::istreambuf_iterator<char>(file), {});
    const std::string sentence = failed.err.substr(std::string("telltale: ").size());
    QVERIFY2(kept.ends_with(" error   " + sentence) && kept.find("no\\u001brun") != std::string::npos, kept.c_str());
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, VerbLogTest)

}

#include "verblogtest.moc"
