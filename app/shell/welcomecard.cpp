// SPDX-License-Identifier: GPL-3.0-or-later
#include "welcomecard.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QRegularExpression>
#include <QVBoxLayout>

#include <telltale/common/iconengine.h>
#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/steering/jsonhighlighter.h>

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

namespace {

/// An icon at the size of its box.
class IconBox : public QWidget {
public:
    IconBox(const QIcon& icon, int size, QWidget* parent)
        : QWidget(parent)
        , m_icon(icon)
    {
        setFixedSize(size, size);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        m_icon.paint(&painter, rect());
    }

private:
    QIcon m_icon;
};

QString faceOf(const QFont& font)
{
    return QStringLiteral("font-family:'%1'").arg(font.families().join(QStringLiteral("','")));
}

/// What is no word, string or comment of the language is as it is.
QString colored(const QString& code)
{
    static const QRegularExpression token(QStringLiteral(
        R"re((?<text>"(?:\\.|[^"\\])*"|(?<=#include )<[^>]*>)|(?<comment>//.*)|(?<word>\b(?:import|from|auto|double)\b|#include))re"));
    QString html;
    qsizetype done = 0;
    views::colorCode(token, code, [&](qsizetype from, qsizetype length, const QColor& color) {
        html += code.mid(done, from - done).toHtmlEscaped()
            + QStringLiteral("<span style=\"color:%1\">%2</span>")
                  .arg(color.name(), code.mid(from, length).toHtmlEscaped());
        done = from + length;
    });
    return html + code.mid(done).toHtmlEscaped();
}

/// The faces' own lines are 1.2 of their size apart, and 1.4 are wanted.
constexpr auto kSpaced = "<div style=\"line-height:117%; white-space:%1\">%2</div>";

void paintPanel(QWidget* widget, const QColor& fill, const QColor& edge, double radius)
{
    QPainter painter(widget);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(edge, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(widget->rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

}

QIcon tintedIcon(const QString& name, views::ThemeColor color)
{
    return QIcon(new views::IconEngine(name, color));
}

void setProse(RoleLabel* label, const QString& text, const QString& code)
{
    QString words = text.toHtmlEscaped();
    if (!code.isEmpty())
        words.replace(code, QStringLiteral("<span style=\"%1\">%2</span>").arg(faceOf(views::codeFont(11)), code));
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setText(QString::fromLatin1(kSpaced).arg(QStringLiteral("normal"), words));
}

WelcomeCard::WelcomeCard(const QString& iconName, const QString& title, const QString& paragraph, QWidget* parent)
    : QWidget(parent)
    , m_body(new QVBoxLayout)
    , m_foot(new QHBoxLayout)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 20, 20, 20);
    layout->setSpacing(8);
    auto* head = new QHBoxLayout;
    head->setSpacing(10);
    head->addWidget(new IconBox(tintedIcon(iconName, &Theme::accent), 20, this));
    head->addWidget(new RoleLabel(title, &Theme::text, views::wordsFont(15, 600), this), 1);
    layout->addLayout(head);
    auto* words = new RoleLabel(&Theme::text2, views::wordsFont(13), this);
    setProse(words, paragraph);
    layout->addWidget(words);
    layout->addSpacing(12);
    m_body->setSpacing(8);
    layout->addLayout(m_body);
    layout->addStretch();
    m_foot->setSpacing(10);
    layout->addLayout(m_foot);
}

void WelcomeCard::addFact(const QString& iconName, const QString& text)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(new IconBox(views::icon(iconName), 16, this), 0, Qt::AlignTop);
    auto* words = new RoleLabel(&Theme::text, views::wordsFont(12), this);
    setProse(words, text);
    row->addWidget(words, 1);
    m_body->addLayout(row);
    m_body->addSpacing(4);
}

void WelcomeCard::paintEvent(QPaintEvent*)
{
    paintPanel(this, Theme::current().window, Theme::current().border, 6);
}

CodeBlock::CodeBlock(const QString& text, QWidget* parent)
    : QWidget(parent)
    , m_text(text)
    , m_label((new RoleLabel(&Theme::text, views::codeFont(12), this))->asData())
{
    m_label->setTextFormat(Qt::RichText);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 10, 12, 10);
    layout->addWidget(m_label);
    recolor();
}

void CodeBlock::recolor()
{
    m_label->setText(QString::fromLatin1(kSpaced).arg(QStringLiteral("pre"), colored(m_text)));
}

void CodeBlock::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        recolor();
}

void CodeBlock::paintEvent(QPaintEvent*)
{
    paintPanel(this, Theme::current().base, Theme::current().border, 4);
}

}
