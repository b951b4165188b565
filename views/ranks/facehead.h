// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QSlider;

namespace telltale::views {

/// The line above a face of the cube: which two axes it has, and a slider for where the third is cut.
class FaceHead : public QWidget {
    Q_OBJECT
public:
    /// `title`: "modules over steps"; `axis`: what the slider moves along, "rank".
    FaceHead(const QString& title, const QString& axis, const QString& objectName, QWidget* parent);

    /// Places 0..count - 1; `text`: the words for the current one, "rank 3". Says nothing to who listens.
    void set(int count, int current, const QString& text);
    void setTitle(const QString& title);
    QString text() const; ///< title and place, as pictures say it
    QSlider* slider() const { return m_slider; }

Q_SIGNALS:
    void moved(int place); ///< by the user

private:
    QString m_title;
    QLabel* m_name;
    QLabel* m_value;
    QSlider* m_slider;
};

}
