// SPDX-License-Identifier: GPL-3.0-or-later
#include "settingsfile.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <telltale/core/privatefiles.h>

namespace telltale::settings {

namespace {

tl::unexpected<Error> ioFailure(const char* what, const QString& path, int error)
{
    return failure(error == ENOSPC ? ErrorCode::NoSpace : ErrorCode::Io,
        std::string("cannot ") + what + ' ' + path.toStdString() + ": " + std::strerror(error),
        "check the disk and the permissions of that folder");
}

bool writeAll(int file, const QByteArray& bytes)
{
    for (qsizetype done = 0; done < bytes.size();) {
        const auto count = ::write(file, bytes.constData() + done, static_cast<std::size_t>(bytes.size() - done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += count;
    }
    return true;
}

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
    const QByteArray temporary = QFile::encodeName(path + QStringLiteral(".new"));
    const int file = ::open(temporary.constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return ioFailure("write", path, errno);
    bool done = ::fchmod(file, 0600) == 0 && writeAll(file, toJson(settings)) && ::fsync(file) == 0;
    int error = errno;
    ::close(file);
    if (done && std::rename(temporary.constData(), QFile::encodeName(path).constData()) != 0) {
        done = false;
        error = errno;
    }
    if (!done) {
        ::unlink(temporary.constData());
        return ioFailure("write", path, error);
    }
    const int folder = ::open(QFile::encodeName(info.absolutePath()).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        ::fsync(folder);
        ::close(folder);
    }
    return {};
}

}
