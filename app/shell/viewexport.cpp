// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewexport.h"

#include <QBuffer>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QSaveFile>
#include <QStandardPaths>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

#include "jobthread.h"
#include "toaster.h"

namespace telltale::shell {

namespace {

constexpr QSize kDialog(860, 520);

QString endingOf(const QString& path)
{
    return QFileInfo(path).suffix().toLower();
}

}

ViewExport::ViewExport(JobThread* jobs, Toaster* toaster, QWidget* window)
    : QObject(window)
    , m_jobs(jobs)
    , m_toaster(toaster)
    , m_window(window)
{
}

void ViewExport::setFolder(const QString& folder)
{
    m_folder = folder;
}

QString ViewExport::fileNameOf(const QString& runName)
{
    constexpr qsizetype kMostBytes = 120;
    QString name;
    for (const char32_t character : runName.toUcs4()) {
        const bool isUnseen = !QChar::isPrint(character) || (QChar::isSpace(character) && character != U' ');
        const bool isBroken = character < 128 && QStringLiteral("/\\:*?\"<>|").contains(QChar(character));
        const bool isHidden = name.isEmpty() && character == U'.';
        const QString next = isUnseen || isBroken || isHidden ? QStringLiteral("_") : QString::fromUcs4(&character, 1);
        if (name.toUtf8().size() + next.toUtf8().size() > kMostBytes)
            break;
        name += next;
    }
    return name.trimmed();
}

QString ViewExport::proposedName(const views::DataView* view, const QString& runName, const QString& suffix)
{
    const QString ofRun = fileNameOf(runName);
    return (ofRun.isEmpty() ? QString() : ofRun + u'-') + view->objectName() + u'.' + suffix;
}

QString ViewExport::askPath(
    const views::DataView* view, const QString& runName, const QString& suffix, const QString& title)
{
    const QString folder
        = m_folder.isEmpty() ? QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation) : m_folder;
    QFileDialog dialog(m_window, title, folder,
        suffix == QStringLiteral("csv")       ? tr("Tables (*.csv)")
            : suffix == QStringLiteral("svg") ? tr("Drawings (*.svg)")
                                              : tr("Pictures (*.png)"));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.selectFile(proposedName(view, runName, suffix));
    dialog.resize(kDialog); // all columns of Qt's own
    if (dialog.exec() != QDialog::Accepted)
        return {};
    const QString chosen = dialog.selectedFiles().front();
    QString path = withEnding(chosen, suffix);
    // Whether that may be replaced, the dialog has not asked.
    if (path != chosen && QFileInfo::exists(path)) {
        m_toaster->post(Toaster::Severity::Warning, tr("Cannot write %1: %2").arg(path, tr("it is there already")));
        return {};
    }
    m_folder = QFileInfo(path).absolutePath();
    return path;
}

void ViewExport::askForPicture(views::DataView* view, const QString& runName)
{
    const QString path = askPath(view, runName, QStringLiteral("png"), tr("Export the view as a picture"));
    if (!path.isEmpty())
        write(view, path);
}

void ViewExport::askForSvg(views::DataView* view, const QString& runName)
{
    const QString path = askPath(view, runName, QStringLiteral("svg"), tr("Export the view as lines and words"));
    if (!path.isEmpty())
        write(view, path);
}

void ViewExport::askForCsv(views::DataView* view, const QString& runName)
{
    const QString path = askPath(view, runName, QStringLiteral("csv"), tr("Export what the view shows as a table"));
    if (!path.isEmpty())
        write(view, path);
}

QString ViewExport::withEnding(const QString& path, const QString& suffix)
{
    const QString ending = endingOf(path);
    const bool isKnown
        = ending == QStringLiteral("png") || ending == QStringLiteral("svg") || ending == QStringLiteral("csv");
    return isKnown ? path : path + u'.' + suffix;
}

void ViewExport::write(views::DataView* view, const QString& path)
{
    if (endingOf(path) == QStringLiteral("csv"))
        return writeCsv(view, path);
    if (endingOf(path) == QStringLiteral("svg"))
        return write(path, view->renderSvg({ view->width(), view->pictureHeight(view->width()) }));
    const double ratio = view->devicePixelRatioF();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    view->renderImage(QSize(view->width(), view->pictureHeight(view->width())) * ratio).save(&buffer, "PNG");
    write(path, std::move(bytes));
}

void ViewExport::writeCsv(const views::DataView* view, const QString& path)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (const Expected<void> written = view->writeCsv(&buffer); !written) {
        m_toaster->post(Toaster::Severity::Warning, items::saidwords::of(written.error()));
        return;
    }
    write(path, std::move(bytes));
}

void ViewExport::write(const QString& path, QByteArray bytes)
{
    items::assertGuiThread();
    m_jobs->submit([this, path, data = std::move(bytes)]() -> JobThread::Delivery {
        QSaveFile file(path);
        const bool done = file.open(QIODevice::WriteOnly) && file.write(data) == data.size() && file.commit();
        return [this, path, done, reason = file.errorString()] {
            if (done)
                m_toaster->post(Toaster::Severity::Good, tr("Written: %1").arg(path));
            else
                m_toaster->post(Toaster::Severity::Warning, tr("Cannot write %1: %2").arg(path, reason));
        };
    });
}

}
