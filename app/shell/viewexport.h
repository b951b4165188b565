// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/common/dataview.h>

namespace telltale::shell {

class JobThread;
class Toaster;

/// Writes what a view shows to a file that the user chooses. The picture and the CSV are made on the gui thread from
/// the answer that is shown; the file is written on the job thread. Thread: gui.
class ViewExport : public QObject {
    Q_OBJECT
public:
    ViewExport(JobThread* jobs, Toaster* toaster, QWidget* window);

    QString folder() const { return m_folder; }
    void setFolder(const QString& folder);
    void askForPicture(views::DataView* view, const QString& runName);
    void askForSvg(views::DataView* view, const QString& runName);
    void askForCsv(views::DataView* view, const QString& runName);
    /// CSV or SVG where the path ends so, else PNG. What came of it is a toast.
    void write(views::DataView* view, const QString& path);
    /// With `.suffix` behind it unless it ends as one of the three formats does.
    static QString withEnding(const QString& path, const QString& suffix);
    /// A run's name as a part of that of a file: "_" for what no name of a file can have on every system.
    static QString fileNameOf(const QString& runName);
    /// What a dialog proposes: "moe 4 ranks-heatmap.png".
    static QString proposedName(const views::DataView* view, const QString& runName, const QString& suffix);

private:
    void writeCsv(const views::DataView* view, const QString& path);
    QString askPath(const views::DataView* view, const QString& runName, const QString& suffix, const QString& title);
    void write(const QString& path, QByteArray bytes);

    JobThread* m_jobs;
    Toaster* m_toaster;
    QWidget* m_window;
    QString m_folder;
};

}
