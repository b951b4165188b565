// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string_view>

#include <QCoreApplication>
#include <QString>

#include <telltale/config/monitorconfig.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

/// A word of the table of fields.
inline QString fieldText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// A sentence of the table in the user's language; `telltale_lupdate` collects them from the table itself.
inline QString fieldSentence(std::string_view text)
{
    return QCoreApplication::translate("telltale::config", std::string(text).c_str());
}

/// A whole number in groups of three; anything else as it is.
inline QString grouped(const QString& text)
{
    bool isWhole = false;
    const qint64 number = text.toLongLong(&isWhole);
    return isWhole ? formatStep(number) : text;
}

/// What is wrong, as a sentence of its own: the same words may follow a place elsewhere.
inline QString problemSentence(const config::Problem& problem)
{
    const QString words = QString::fromStdString(problem.sentence);
    // What is asked for has its numbers as fields write them, at a space that no line breaks at; what was given stays.
    const qsizetype asked = words.lastIndexOf(QLatin1String("; it must be "));
    QStringList parts = words.mid(std::max<qsizetype>(asked, 0)).split(u' ');
    for (QString& part : parts)
        part = asked < 0 ? part : items::reformatNumber(part).replace(QChar(0x202F), QChar(0x00A0));
    const QString all = items::saidwords::inLanguage(words.left(asked < 0 ? 0 : asked) + parts.join(u' '));
    return all.left(1).toUpper() + all.mid(1);
}

}
