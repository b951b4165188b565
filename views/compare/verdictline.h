// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QPushButton;

namespace telltale::views {

class Conformance;

/// One sentence on how far the two runs are the same, with what goes to the first difference; how far the comparison
/// is, and what stops it. Thread: gui.
class VerdictLine : public QWidget {
    Q_OBJECT
public:
    explicit VerdictLine(Conformance* conformance, QWidget* parent = nullptr);

    QString text() const;
    /// What differs first in the map, said before all others; empty: nothing. `leads`: a click on it goes there.
    void setMapNote(const QString& note, bool leads);
    void setPictureNotes(const QStringList& notes); ///< what the map leaves out
    void setCompact(bool on); ///< the sentence alone, where there is little room

Q_SIGNALS:
    void goWanted();
    void mapGoWanted(); ///< to what differs first in the map
    void copyWanted();

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void update();
    void fit();

    Conformance* m_conformance;
    QLabel* m_sentence;
    QLabel* m_note;
    QPushButton* m_go;
    QPushButton* m_stop;
    QPushButton* m_copy;
    QString m_text;
    QString m_mapNote;
    bool m_mapNoteLeads = false;
    QStringList m_notes; ///< on the comparison
    QStringList m_pictureNotes;
    bool m_isCompact = false;
};

}
