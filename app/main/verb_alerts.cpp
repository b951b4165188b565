// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <QCoreApplication>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/notify/alertsfile.h>
#include <telltale/notify/testround.h>

#include "report.h"

namespace telltale::app {
namespace {

using alerts::AlertSettings;
using notify::TestAnswer;

const char* onOff(bool isOn)
{
    return isOn ? "on" : "off";
}

Expected<AlertSettings> settingsOf(const Args& args)
{
    const auto dataDir = dataDirOf(args);
    return dataDir ? notify::loadAlerts(*dataDir) : Expected<AlertSettings>(tl::unexpected(dataDir.error()));
}

void writeText(std::ostream& out, const AlertSettings& settings)
{
    out << fmt::format("told         {} incidents, {} s after they were found\n",
        settings.least == store::Severity::Critical ? "critical" : "warning and critical", settings.settleS);
    out << fmt::format("desktop      {}, at most one in {} s\n", onOff(settings.isDesktopOn), settings.desktopQuietS);
    out << fmt::format("console      {}\n", onOff(settings.isConsoleOn));
    for (const alerts::Webhook& hook : settings.webhooks)
        out << fmt::format("webhook      {}, {}: {}, {}{}\n", terminalText(hook.name), onOff(hook.isOn),
            alerts::shapeWord(hook.shape), alerts::shownUrl(hook.url), hook.secret.empty() ? "" : ", signed");
    for (const alerts::Command& command : settings.commands)
        out << fmt::format("command      {}, {}: {}{}\n", terminalText(command.name), onOff(command.isOn),
            terminalText(command.argv.empty() ? "" : command.argv.front()), command.argv.size() > 1 ? " …" : "");
}

int runAlerts(const Args& args, Report& report)
{
    if (args.has("--schema")) {
        report.out() << AlertSettings::schema() << '\n';
        return kExitDone;
    }
    const auto settings = settingsOf(args);
    if (!settings)
        return report.failUsage(settings.error());
    if (args.has("--json"))
        report.out() << settings->toShownJson() << '\n';
    else
        writeText(report.out(), *settings);
    return kExitDone;
}

int runAlertsTest(const Args& args, Report& report)
{
    const auto settings = settingsOf(args);
    if (!settings)
        return report.failUsage(settings.error());
    QCoreApplication app(report.argc, report.argv);
    notify::TestRound round(*settings);
    std::vector<TestAnswer> answers;
    QObject::connect(&round, &notify::TestRound::finished, &app, [&](const std::vector<TestAnswer>& all) {
        answers = all;
        QCoreApplication::quit();
    });
    round.start();
    QCoreApplication::exec();
    bool isAll = true;
    auto document = nlohmann::json::array();
    for (const TestAnswer& answer : answers) {
        isAll = isAll && answer.isDelivered;
        document.push_back({ { "receiver", answer.receiver.toStdString() }, { "delivered", answer.isDelivered },
            { "answer", answer.sentence.toStdString() } });
        if (!args.has("--json"))
            report.out() << fmt::format("{:<8} {}: {}\n", answer.isDelivered ? "told" : "FAILED",
                answer.receiver.toStdString(), terminalText(answer.sentence.toStdString()));
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    else if (answers.empty())
        report.out() << "nobody would be told: no webhook and no command is on, and here is no desktop session\n";
    return isAll ? kExitDone : kExitFailed;
}

}

Verb alertsVerb()
{
    return { "alerts", "who is told of incidents",
        "Lists who is told of incidents, by the file alerts.json of the data directory, which a running Telltale "
        "reads\n"
        "again when it changes. Addresses and words of commands are not shown whole.",
        { "", 0, 0 },
        { { "--json", "", "as such a document, without what is secret" },
            { "--schema", "", "the JSON Schema of such a document" },
            { "--data-dir", "DIR", "whose alerts.json, instead of $TELLTALE_DATA_DIR" } },
        runAlerts };
}

Verb alertsTestVerb()
{
    return { "alerts test", "sends everybody who is told of incidents a message",
        "Sends one message to every webhook, command and desktop that is on, and says what each answered.\n"
        "Exits 1 when one of them was not told. The desktop is left out where there is no session.",
        { "", 0, 0 },
        { { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "whose alerts.json, instead of $TELLTALE_DATA_DIR" } },
        runAlertsTest };
}

}
