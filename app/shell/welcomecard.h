// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QHBoxLayout;
class QVBoxLayout;

namespace telltale::shell {

/// One panel of the first start: an icon and a title, a paragraph, contents, and a row of buttons at the foot.
class WelcomeCard : public QWidget {
    Q_OBJECT
public:
    WelcomeCard(const QString& iconName, const QString& title, const QString& paragraph, QWidget* parent = nullptr);

    QVBoxLayout* body() const { return m_body; }
    QHBoxLayout* foot() const { return m_foot; }
    void addFact(const QString& iconName, const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QVBoxLayout* m_body;
    QHBoxLayout* m_foot;
};

/// A block of code on base with a border, selectable.
class CodeBlock : public QWidget {
    Q_OBJECT
public:
    explicit CodeBlock(const QString& text, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

}
