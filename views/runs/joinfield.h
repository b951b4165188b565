// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLineEdit;
class QPushButton;

namespace telltale::views {

/// The join string with its token masked, and a button that copies the whole.
class JoinField : public QWidget {
    Q_OBJECT
public:
    explicit JoinField(QWidget* parent = nullptr);

    void setJoinString(const QString& join);
    QString joinString() const { return m_join; }
    void copy();
    QPushButton* button() const { return m_button; }

    /// "telltale://127.0.0.1:47800#token=••••••••&fp=3a9c…e1": enough to compare, nothing to leak over a shoulder.
    static QString masked(const QString& join);

Q_SIGNALS:
    void copied();

private:
    QString m_join;
    QLineEdit* m_field;
    QPushButton* m_button;
};

}
