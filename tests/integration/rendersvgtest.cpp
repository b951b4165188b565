// SPDX-License-Identifier: GPL-3.0-or-later
// Every view as SVG: the same picture as the PNG, whose words are words and whose curves are lines.
#include <cmath>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QProcess>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>

#include "../views/shellfixture.h"

namespace {

constexpr QSize kSize { 1200, 800 };

struct Answer {
    int code = -1;
    QString words;
};

Answer answerOf(const QStringList& arguments)
{
    QProcess process;
    process.start(
        QDir(QCoreApplication::applicationDirPath()).absoluteFilePath(QStringLiteral("../bin/telltale")), arguments);
    process.waitForFinished(240'000);
    return { process.exitCode(), QString::fromUtf8(process.readAllStandardError()) };
}

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Mean difference of two pictures in 8-bit levels, over squares of 8 x 8: glyphs of text may lie half a pixel apart.
double differenceOf(const QImage& a, const QImage& b)
{
    const QSize small = kSize / 8;
    const QImage left = a.scaled(small, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
    const QImage right = b.scaled(small, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
    double sum = 0;
    for (int y = 0; y < small.height(); ++y) {
        for (int x = 0; x < small.width(); ++x)
            sum += std::abs(qGray(left.pixel(x, y)) - qGray(right.pixel(x, y)));
    }
    return sum / (small.width() * small.height());
}

}

class RenderSvgTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        telltale::test::DemoCapsule capsule(m_dir.path().toStdString());
        capsule.write();
        m_run = QString::fromStdString(capsule.path());
    }

    void everyViewIsTheSamePictureAsSvg_data()
    {
        QTest::addColumn<QString>("view");
        const Answer answer = answerOf({ QStringLiteral("render"), m_run, QStringLiteral("--view"), QStringLiteral("?"),
            QStringLiteral("-o"), QStringLiteral("x.svg") });
        const QString list = answer.words.section(QStringLiteral("views: "), 1).section(u'\n', 0, 0);
        QVERIFY2(list.contains(QStringLiteral("heatmap")), qPrintable(answer.words));
        for (const QString& view : list.split(QRegularExpression(QStringLiteral("[^a-z]+")), Qt::SkipEmptyParts))
            QTest::newRow(qPrintable(view)) << view;
    }

    void everyViewIsTheSamePictureAsSvg()
    {
        QFETCH(QString, view);
        const auto drawn = [&](const QString& ending) {
            const QString path = m_dir.filePath(view + ending);
            const Answer answer = answerOf({ QStringLiteral("render"), m_run, QStringLiteral("--view"), view,
                QStringLiteral("--size"), QStringLiteral("1200x800"), QStringLiteral("-o"), path });
            return std::pair(answer, contentOf(path));
        };
        const auto [asPng, png] = drawn(QStringLiteral(".png"));
        const auto [asSvg, svg] = drawn(QStringLiteral(".svg"));
        QCOMPARE(asSvg.words, asPng.words); // what this run has nothing for is said alike
        QCOMPARE(asSvg.code, asPng.code);
        if (asPng.code != 0)
            return;
        QSvgRenderer renderer(svg);
        QVERIFY(renderer.isValid());
        QCOMPARE(renderer.viewBox(), QRect(QPoint(), kSize));
        const int least = view == QLatin1String("structure") ? 1 : 5; // this run has none, and one sentence says so
        QVERIFY2(svg.count("<text ") >= least, "its words are words");
        QImage vector(kSize, QImage::Format_RGB32);
        vector.fill(Qt::black);
        QPainter painter(&vector);
        renderer.render(&painter);
        painter.end();
        const double difference = differenceOf(QImage::fromData(png), vector);
        QVERIFY2(difference < 4, qPrintable(QString::number(difference)));
        QVERIFY2(svg.size() < 6'000'000, qPrintable(QString::number(svg.size())));
    }

    void curvesAreLines()
    {
        const QByteArray svg = contentOf(m_dir.filePath(QStringLiteral("curves.svg")));
        QVERIFY(!svg.contains("<image "));
        QVERIFY(svg.count("<path ") > 5);
        QVERIFY(svg.contains(">layers.7.attn.qkv.weight<") || svg.contains("tok_emb.weight<"));
    }

    void theCellsOfAHeatMapStayCells()
    {
        const QByteArray svg = contentOf(m_dir.filePath(QStringLiteral("heatmap.svg")));
        QCOMPARE(svg.count("<image "), svg.count("image-rendering:pixelated"));
        QVERIFY(svg.contains("<image "));
    }

private:
    QTemporaryDir m_dir;
    QString m_run;
};

QTEST_MAIN(RenderSvgTest)
#include "rendersvgtest.moc"
