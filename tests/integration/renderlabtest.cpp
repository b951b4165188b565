// SPDX-License-Identifier: GPL-3.0-or-later
// The rule lab without a window: what `telltale render` draws of it is the run judged again, not the page of nobody's.
#include <algorithm>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "../store/madeuptraining.h"

using namespace telltale;

namespace {

/// Where `isSpiky`, rank 1's gradients of a block are hundred times too large at step 320.
QString writeLabRun(const QTemporaryDir& dir, const QString& name, bool isSpiky)
{
    QString path = dir.filePath(QStringLiteral("2026-01-02_%1_abc.telltale").arg(name)); // not what the run is called
    test::CapsuleBuilder builder(path.toStdString(), name.toStdString());
    test::Training training;
    training.ranks = 2;
    training.steps = 400;
    training.value = [isSpiky](int rank, int step, Kind kind, const std::string& tensor, double usual) {
        const bool isIt = isSpiky && rank == 1 && kind == Kind::GradReduced && tensor.starts_with("layers.1");
        return isIt && step == 320 ? usual * 100 : usual;
    };
    training.write(builder);
    builder.finish();
    return path;
}

/// The file's bytes; the command's words where there is none.
QByteArray rendered(const QString& capsule, const QString& out)
{
    QProcess process;
    process.start(QDir(QCoreApplication::applicationDirPath()).absoluteFilePath(QStringLiteral("../bin/telltale")),
        { QStringLiteral("render"), capsule, QStringLiteral("--view"), QStringLiteral("rulelab"),
            QStringLiteral("--size"), QStringLiteral("1200x800"), QStringLiteral("-o"), out });
    process.waitForFinished(240'000);
    QFile file(out);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : process.readAllStandardError();
}

/// Pixels of a part of a picture that are not what most of it is.
int inkOf(const QImage& image, const QRect& part)
{
    QHash<QRgb, int> counts;
    for (int y = part.top(); y <= part.bottom(); ++y) {
        for (int x = part.left(); x <= part.right(); ++x)
            ++counts[image.pixel(x, y)];
    }
    return part.width() * part.height() - *std::max_element(counts.begin(), counts.end());
}

}

class RenderLabTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void thePictureHasTheRunAndWhatItsRulesFind()
    {
        const QTemporaryDir dir;
        const QString spiky = writeLabRun(dir, QStringLiteral("spiky"), true);
        const QString calm = writeLabRun(dir, QStringLiteral("calm"), false);
        const QByteArray found = rendered(spiky, dir.filePath(QStringLiteral("spiky.csv")));
        QVERIFY2(found.contains("spiky,,1,1,") && found.contains("spiky,level,1,1,"), found.constData());
        const QByteArray none = rendered(calm, dir.filePath(QStringLiteral("calm.csv")));
        QVERIFY2(none.contains("calm,,0,0,") && !none.contains("level"), none.constData());

        const QImage picture = QImage::fromData(rendered(spiky, dir.filePath(QStringLiteral("spiky.png"))));
        const QImage other = QImage::fromData(rendered(calm, dir.filePath(QStringLiteral("calm.png"))));
        QCOMPARE(picture.size(), QSize(1200, 800));
        // A page that says that there is nothing has a sentence; this has all rules, and the results, each its row.
        QVERIFY(inkOf(picture, { 0, 0, 1200, 480 }) > 20'000);
        const QRect results(0, 540, 600, 240);
        QVERIFY2(inkOf(picture, results) > inkOf(other, results) + 200 && inkOf(other, results) > 1000,
            qPrintable(QStringLiteral("%1 %2").arg(inkOf(picture, results)).arg(inkOf(other, results))));
    }
};

QTEST_GUILESS_MAIN(RenderLabTest)
#include "renderlabtest.moc"
