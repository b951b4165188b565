// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QDir>
#include <QString>

namespace telltale::test {

/// Where a test leaves the picture that somebody may want to look at: beside its program, wherever it was started.
inline QString shot(const QString& file)
{
    const QString folder = QCoreApplication::applicationDirPath() + QStringLiteral("/shots");
    QDir().mkpath(folder);
    return folder + u'/' + file;
}

}
