// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertsfile.h"

#include <sys/stat.h>

#include <QFile>
#include <QSaveFile>

#include <telltale/core/privatefiles.h>

namespace telltale::notify {

namespace {

constexpr qint64 kMostBytes = 1 << 20;

}

std::string alertsPath(const std::string& dataDir)
{
    return dataDir + "/alerts.json";
}

Expected<alerts::AlertSettings> loadAlerts(const std::string& dataDir)
{
    const std::string path = alertsPath(dataDir);
    QFile file(QString::fromStdString(path));
    if (!file.exists())
        return alerts::AlertSettings {};
    if (!file.open(QIODevice::ReadOnly))
        return failure(ErrorCode::Io, "cannot read " + path + ": " + file.errorString().toStdString(),
            "check the permissions of that file");
    const QByteArray text = file.read(kMostBytes + 1);
    if (text.size() > kMostBytes)
        return failure(ErrorCode::TooLarge, path + " is larger than 1 MiB", "it cannot be a list of alerts");
    auto settings = alerts::AlertSettings::fromJson(text.toStdString());
    if (!settings)
        return failure(settings.error().code, path + ": " + settings.error().what, settings.error().todo);
    return settings;
}

Expected<void> saveAlerts(const std::string& dataDir, const alerts::AlertSettings& settings)
{
    if (auto made = makePrivateFolder(dataDir); !made)
        return made;
    const std::string path = alertsPath(dataDir);
    const QByteArray document = QByteArray::fromStdString(settings.toJson() + '\n');
    QSaveFile file(QString::fromStdString(path));
    const bool isDone = file.open(QIODevice::WriteOnly)
        && file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
        && file.write(document) == document.size() && file.commit();
    if (!isDone)
        return failure(ErrorCode::Io, "cannot write " + path + ": " + file.errorString().toStdString(),
            "check the disk and the permissions of that folder");
    static_cast<void>(makeDurable(dataDir)); // the new name, too; not every file system can do that
    return {};
}

FileStamp stampOf(const std::string& dataDir)
{
    struct stat info { };
    if (::stat(alertsPath(dataDir).c_str(), &info) != 0)
        return {};
    return { info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, info.st_size, info.st_ino };
}

}
