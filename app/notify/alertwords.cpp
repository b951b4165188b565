// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertwords.h"

#include <QCoreApplication>

#include <telltale/items/sentenceforms.h>

namespace telltale::notify::alertwords {

namespace {

// As model/alerts and the channels write them. Where two fit, the first counts.
constexpr const char* kAnswers[] {
    QT_TRANSLATE_NOOP("Alert", "it answered 200, but not as this service does; check the address and the template"),
    QT_TRANSLATE_NOOP("Alert", "it answered %1, that it has moved; give the new address"),
    QT_TRANSLATE_NOOP("Alert", "it answered %1: %2"),
    QT_TRANSLATE_NOOP("Alert", "it answered %1"),
    QT_TRANSLATE_NOOP("Alert", "it refused with %1 and no reason"),
    QT_TRANSLATE_NOOP("Alert", "it refused with %1 (%2)"),
    QT_TRANSLATE_NOOP("Alert", "it did not answer within %1 s"),
    QT_TRANSLATE_NOOP("Alert", "it cannot be reached (%1)"),
    QT_TRANSLATE_NOOP("Alert", "it was ended, as it took more than %1 s"),
    QT_TRANSLATE_NOOP("Alert", "it crashed"),
    QT_TRANSLATE_NOOP("Alert", "it ended with %1: %2"),
    QT_TRANSLATE_NOOP("Alert", "it ended with %1"),
    QT_TRANSLATE_NOOP("Alert", "it cannot be started (%1)"),
    QT_TRANSLATE_NOOP("Alert", "it was shown"),
};
constexpr const char* kReceivers[] {
    QT_TRANSLATE_NOOP("Alert", "webhook %1"),
    QT_TRANSLATE_NOOP("Alert", "command %1"),
    QT_TRANSLATE_NOOP("Alert", "desktop"),
};
constexpr const char* kProblems[] {
    QT_TRANSLATE_NOOP("Alert", "it is no JSON"),
    QT_TRANSLATE_NOOP("Alert", "'telltale alerts --schema' says what may stand there"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be an object"),
    QT_TRANSLATE_NOOP("Alert", "there is no \"%1\""),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be true or false"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be a whole number from %2 to %3"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be a text"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be an array of at most %2"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be warning or critical"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be generic, slack, feishu or dingtalk"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" is for feishu and dingtalk, which sign with it"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" must be the program and its words: [\"/usr/bin/logger\", \"-t\", \"telltale\"]"),
    QT_TRANSLATE_NOOP("Alert", "\"%1\" cannot be posted to: %2"),
    QT_TRANSLATE_NOOP("Alert", "the document"),
    QT_TRANSLATE_NOOP("Alert", "there is no address"),
    QT_TRANSLATE_NOOP("Alert", "the address must begin with https:// or http://"),
    QT_TRANSLATE_NOOP("Alert", "the address has a blank in it"),
    QT_TRANSLATE_NOOP("Alert", "the address has no host"),
    QT_TRANSLATE_NOOP("Alert", "cannot read %1: %2"),
    QT_TRANSLATE_NOOP("Alert", "check the permissions of that file"),
    QT_TRANSLATE_NOOP("Alert", "%1 is larger than 1 MiB"),
    QT_TRANSLATE_NOOP("Alert", "it cannot be a list of alerts"),
    QT_TRANSLATE_NOOP("Alert", "cannot write %1: %2"),
    QT_TRANSLATE_NOOP("Alert", "check the disk and the permissions of that folder"),
};

QString known(const items::SentenceForms& forms, const QString& english)
{
    const QString text = forms.translated(english, [&forms](const QString& part) { return known(forms, part); });
    return text.isEmpty() ? english : text;
}

const QString& anything()
{
    static const QString kAny = QStringLiteral("(.+?)");
    return kAny;
}

}

std::vector<const char*> forms()
{
    std::vector<const char*> all(std::begin(kAnswers), std::end(kAnswers));
    all.insert(all.end(), std::begin(kReceivers), std::end(kReceivers));
    all.insert(all.end(), std::begin(kProblems), std::end(kProblems));
    return all;
}

QString answer(const QString& sentence)
{
    static const items::SentenceForms kForms("Alert", kAnswers, anything());
    // What somebody else has said in it is theirs.
    const QString text = kForms.translated(sentence, [](const QString& part) { return part; });
    return text.isEmpty() ? sentence : text;
}

QString receiver(const QString& label)
{
    static const items::SentenceForms kForms("Alert", kReceivers, anything());
    const QString text = kForms.translated(label, [](const QString& part) { return part; });
    return text.isEmpty() ? label : text;
}

QString problem(const QString& sentences)
{
    static const items::SentenceForms kForms("Alert", kProblems, anything());
    const QStringList parts = sentences.split(QStringLiteral("; "));
    QStringList all;
    for (const QString& part : parts) {
        // The first says which file it is in.
        const qsizetype colon = part.startsWith(u'/') ? part.indexOf(QStringLiteral(": ")) : -1;
        const qsizetype begin = colon < 0 ? 0 : colon + 2;
        all.append(part.left(begin) + known(kForms, part.mid(begin)));
    }
    return all.join(QStringLiteral("; "));
}

}
