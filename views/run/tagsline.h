// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QWidget>

class QLineEdit;
class QPushButton;

namespace telltale::views {

/// A run's tags as chips, as many lines as they need; a click (or Enter) takes one away, the field adds one. It shows
/// what it is given: what was asked for comes when the run has it. Thread: gui.
class TagsLine : public QWidget {
    Q_OBJECT
public:
    explicit TagsLine(QWidget* parent = nullptr);

    void set(const std::vector<std::string>& tags);
    void setWritable(bool isWritable);

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(width, false); }
    QSize sizeHint() const override { return { 200, place(std::max(200, width()), false) }; }
    QSize minimumSizeHint() const override { return { 120, 24 }; }

Q_SIGNALS:
    void addWanted(const QString& tag);
    void removeWanted(const QString& tag);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    int place(int width, bool isMoved) const; ///< returns the height

    std::vector<std::string> m_tags;
    std::vector<QPushButton*> m_chips;
    QLineEdit* m_field;
    bool m_isWritable = false;
};

}
