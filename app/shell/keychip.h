// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QWidget>

namespace telltale::shell {

/// A key as a small outlined chip, with what it does behind it.
class KeyChip : public QWidget {
    Q_OBJECT
public:
    KeyChip(const QString& key, const QString& meaning, QWidget* parent = nullptr);

    QString meaning() const { return m_meaning; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

    /// As the system writes them, but for the arrows, which are drawn as on the keys.
    static QString textOf(const QKeySequence& keys);
    static int widthOf(const QString& key);
    static void paint(QPainter* painter, const QRectF& rect, const QString& key);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_key;
    QString m_meaning;
};

}
