// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListWidget>

namespace telltale::views {

/// The frames of a call stack: where each is, and in a second column its function. A click says which one. Thread: gui.
class FrameList : public QListWidget {
    Q_OBJECT
public:
    explicit FrameList(QWidget* parent = nullptr);

    /// As CommSite::stack; `emptyText`: what stands there without any.
    void setFrames(const QStringList& frames, const QString& emptyText);
    QString emptyText() const { return m_emptyText; }

Q_SIGNALS:
    void frameChosen(const QString& line); ///< "path:line"

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QString m_emptyText;
};

}
