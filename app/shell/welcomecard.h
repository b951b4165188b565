// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QWidget>

#include <telltale/common/theme.h>

class QHBoxLayout;
class QVBoxLayout;

namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

/// A line icon in one of the theme's colors. It is as wide as high: where it gets more room, that is a gap behind it.
QIcon tintedIcon(const QString& name, views::ThemeColor color);
/// Lines of text as far apart as reading wants them. `code`: what of it is in the face of code.
void setProse(views::RoleLabel* label, const QString& text, const QString& code = {});

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

/// A block of Python or C++ on base with a border, selectable.
class CodeBlock : public QWidget {
    Q_OBJECT
public:
    explicit CodeBlock(const QString& text, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void recolor(); ///< in the colors of the theme in force

    QString m_text;
    views::RoleLabel* m_label;
};

}
