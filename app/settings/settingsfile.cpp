// SPDX-License-Identifier: GPL-3.0-or-later
#include "settingsfile.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <telltale/core/privatefiles.h>

namespace telltale::settings {

namespace {

/// An existing copy is replaced: the newest bad document is the one worth looking at.
void setAside(const QString& path, const QString& aside, bool keepOriginal)
{
    QFile::remove(aside);
    if (keepOriginal)
        QFile::copy(path, aside);
    else
        QFile::rename(path, aside);
}

}

Expected<LoadedSettings> load(const QString& path)
{
    QFile file(path);
    if (!file.exists())
        return LoadedSettings {};
    if (!file.open(QIODevice::ReadOnly))
        return failure(ErrorCode::Io, "cannot read " + path.toStdString() + ": " + file.errorString().toStdString(),
            "check the permissions of that file");
    const ParsedSettings parsed = fromJson(file.readAll());
    file.close();

    LoadedSettings result { parsed.settings, {} };
    if (parsed.state == DocumentState::Damaged) {
        setAside(path, path + QStringLiteral(".damaged"), false);
        result.note = QCoreApplication::translate(
            "Settings", "The settings were damaged and start fresh; the old ones are kept as %1.damaged")
                          .arg(QFileInfo(path).fileName());
    } else if (parsed.state == DocumentState::Newer) {
        const QString aside = path + QStringLiteral(".v%1").arg(parsed.version);
        setAside(path, aside, true);
        result.note = QCoreApplication::translate(
            "Settings", "The settings are of a newer Telltale (version %1); they are kept as %2")
                          .arg(parsed.version)
                          .arg(QFileInfo(aside).fileName());
    }
    return result;
}

Expected<void> save(const QString& path, const Settings& settings)
{
    const QFileInfo info(path);
    if (auto made = makePrivateFolder(QFile::encodeName(info.absolutePath()).toStdString()); !made)
        return made;
    const QByteArray document = toJson(settings);
    QSaveFile file(path);
    const bool done = file.open(QIODevice::WriteOnly)
        && file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
        && file.write(document) == document.size() && file.commit();
    if (done) {
        // The new name, too; not every file system can do that.
        static_cast<void>(makeDurable(QFile::encodeName(info.absolutePath()).toStdString()));
        return {};
    }
    // A disk that takes a part of it fails without an error.
    const bool isFull = file.error() == QFileDevice::ResourceError || file.error() == QFileDevice::NoError;
    return failure(isFull ? ErrorCode::NoSpace : ErrorCode::Io,
        "cannot write " + path.toStdString() + ": "
            + (isFull ? std::string("the disk is full") : file.errorString().toStdString()),
        isFull ? "free some disk space" : "check the disk and the permissions of that folder");
}

}
