// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <telltale/settings/settingsfile.h>

using namespace telltale;
using namespace telltale::settings;

namespace {

int foldersSynced = 0;

}

/// Stands in for the C library's, and counts.
extern "C" int fsync(int fd)
{
    struct stat info { };
    foldersSynced += ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? 1 : 0;
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace {

Settings everything()
{
    Settings s;
    s.theme = QStringLiteral("light");
    s.language = QStringLiteral("zh_CN");
    s.animations = false;
    s.geometry = QByteArray("\x00\x01geometry", 10);
    s.docks = "docks";
    s.activeTab = QStringLiteral("curves");
    s.heatmapSplit = "split";
    s.runPath = QStringLiteral("/runs/ö.telltale");
    s.kind = QStringLiteral("actv");
    s.stat = QStringLiteral("absmax");
    s.rank = 7;
    s.selection = { QStringLiteral("layers.0.attn\toutput"), QStringLiteral("head") };
    s.moduleFilter = QStringLiteral("/qkv$/");
    s.cursor = QStringLiteral("9007199254740993"); // which no number of JSON has
    s.comparedRuns = { QStringLiteral("/runs/b.telltale") };
    s.viewChoices = { QStringLiteral("ranksBelow=true") };
    s.recentFiles = { QStringLiteral("/a"), QStringLiteral("/b") };
    s.exportFolder = QStringLiteral("/tmp");
    return s;
}

void write(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

}

class SettingsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatIsSavedIsLoaded()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("deep/er/desktop.json"));
        QVERIFY(save(path, everything()));
        const auto loaded = load(path);
        QVERIFY(loaded);
        QVERIFY(loaded->settings == everything());
        QVERIFY(loaded->note.isEmpty());
        QCOMPARE(QDir(dir.filePath(QStringLiteral("deep/er"))).entryList(QDir::Files).size(), 1); // no leftovers
        QCOMPARE(
            QFile::permissions(path) & (QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther),
            QFile::Permissions());
    }

    void noDocumentMeansDefaults()
    {
        QTemporaryDir dir;
        const auto loaded = load(dir.filePath(QStringLiteral("desktop.json")));
        QVERIFY(loaded);
        QVERIFY(loaded->settings == Settings());
        QVERIFY(loaded->note.isEmpty());
    }

    void aDamagedDocumentIsSetAside_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("half") << toJson(everything()).left(60);
        QTest::newRow("an array") << QByteArray("[1]");
        QTest::newRow("no version") << QByteArray("{\"theme\":\"light\"}");
        QTest::newRow("zeros") << QByteArray(100, '\0');
    }
    void aDamagedDocumentIsSetAside()
    {
        QFETCH(QByteArray, bytes);
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("desktop.json"));
        write(path, bytes);
        const auto loaded = load(path);
        QVERIFY(loaded);
        QVERIFY(loaded->settings == Settings());
        QVERIFY(!loaded->note.isEmpty());
        QVERIFY(QFile::exists(path + QStringLiteral(".damaged")));
        QVERIFY(!QFile::exists(path));
    }

    void aNewerDocumentIsKeptBesideAndReadAsFarAsKnown()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("desktop.json"));
        QByteArray json = toJson(everything());
        json.replace("\"version\": 1", "\"version\": 9");
        write(path, json);
        const auto loaded = load(path);
        QVERIFY(loaded);
        QVERIFY(loaded->settings == everything());
        QVERIFY(loaded->note.contains(u'9'));
        QVERIFY(save(path, loaded->settings));
        QFile kept(path + QStringLiteral(".v9"));
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QCOMPARE(kept.readAll(), json);
    }

    void fieldsOfTheWrongTypeKeepTheirDefault()
    {
        const ParsedSettings parsed
            = fromJson("{\"version\":1,\"theme\":4,\"rank\":\"x\",\"selection\":[1,\"a\"],\"stat\":\"norm\"}");
        QCOMPARE(parsed.state, DocumentState::Whole);
        QCOMPARE(parsed.settings.theme, QStringLiteral("system"));
        QCOMPARE(parsed.settings.rank, 0);
        QCOMPARE(parsed.settings.selection, QStringList { QStringLiteral("a") });
        QCOMPARE(parsed.settings.stat, QStringLiteral("norm"));
    }

    void aDocumentThatOthersCouldReadIsTheOwnersAfterTheNextSave()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("desktop.json"));
        write(path, "{}");
        QVERIFY(
            QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup | QFile::ReadOther));
        QVERIFY(save(path, everything()));
        QVERIFY(!(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther)));
    }

    void aSaveIsDurableWithItsName()
    {
        QTemporaryDir dir;
        foldersSynced = 0;
        QVERIFY(save(dir.filePath(QStringLiteral("desktop.json")), everything()));
        QCOMPARE(foldersSynced, 1);
    }

    void aFullDiskIsSaidToBeFull()
    {
        QTemporaryDir dir;
        const QByteArray folder = QFile::encodeName(dir.path());
        if (::mount("tmpfs", folder.constData(), "tmpfs", 0, "size=4k") != 0)
            QSKIP("only root can make a file system");
        const auto gone = qScopeGuard([&folder] { ::umount2(folder.constData(), MNT_DETACH); });
        Settings large = everything();
        large.selection = QStringList(2000, QStringLiteral("a.module.of.a.long.name"));
        const auto saved = save(dir.filePath(QStringLiteral("desktop.json")), large);
        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::NoSpace);
    }

    void aFolderThatCannotBeWrittenIsAnError()
    {
        const auto saved = save(QStringLiteral("/proc/nowhere/desktop.json"), everything());
        QVERIFY(!saved);
        QVERIFY(!saved.error().what.empty());
    }
};

QTEST_GUILESS_MAIN(SettingsTest)
#include "settingstest.moc"
