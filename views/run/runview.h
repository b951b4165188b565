// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/dataview.h>

#include "facttreemodel.h"
#include "runquery.h"

class QLabel;
class QSplitter;
class QTabWidget;

namespace telltale::views {

class ConsolePane;
class FactTree;
class LoggedPane;
class NotesEditor;
class OverviewCanvas;
class TagsLine;
class ViewBar;

/// What a run says of itself: hyperparameters and environment, tags and notes (which people edit here, and the run
/// keeps), what its system uses, the texts and images that its program logged, what it printed.
class RunView : public DataView {
    Q_OBJECT
public:
    explicit RunView(const ViewContext& context, QWidget* parent = nullptr);

    /// Facts by group, then tags and notes.
    Expected<void> writeCsv(QIODevice* device) const override;
    void paintPicture(QPainter& painter, QSize size) override;

    FactTree* facts() const { return m_facts; }
    LoggedPane* logged() const { return m_logged; }
    ConsolePane* console() const { return m_console; }
    OverviewCanvas* system() const { return m_system; }
    const analysis::RunDocument& document() const { return m_document; }

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeWords();
    void fit(QWidget* part, QSplitter* split, bool isTab, const QString& title, const QList<int>& sizes);
    QWidget* makeTabs();
    void connectState();
    void connectWriting();
    void begin(); ///< another run, or another rank of it
    void take(const RunPicture& picture);
    void showDocument();
    void showName();
    void showWritable();
    std::vector<FactTreeModel::Group> groups() const;
    Step newestStep() const;
    QString systemText() const;
    void edit(Event event);

    analysis::RunDocument m_document;
    RunRequest m_known; ///< how far texts, images and the console were read
    quint64 m_documentChanges = 1; ///< of which m_document may not know yet
    quint64 m_knownChanges = 0;
    ViewBar* m_bar;
    QLabel* m_caption = nullptr;
    QSplitter* m_split;
    FactTree* m_facts;
    TagsLine* m_tags = nullptr;
    NotesEditor* m_notes = nullptr;
    QSplitter* m_right = nullptr;
    QWidget* m_words = nullptr; ///< tags and notes
    QTabWidget* m_tabs = nullptr;
    OverviewCanvas* m_system = nullptr;
    LoggedPane* m_logged = nullptr;
    ConsolePane* m_console = nullptr;
};

}
