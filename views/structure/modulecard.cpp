// SPDX-License-Identifier: GPL-3.0-or-later
#include "modulecard.h"

#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/readout.h>
#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/runs/stacktext.h>

#include "structuremodel.h"

namespace telltale::views {

namespace {

/// As high as a row of the list beside it.
QString lineHtml(const QString& line)
{
    return QStringLiteral("<div style=\"line-height:22px\">%1</div>").arg(line.toHtmlEscaped());
}

}

ModuleCard::ModuleCard(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(12, 10, 12, 12);
    m_layout->setSpacing(4);
    m_name = addLabel(&Theme::text, codeFont(13, 500));
    m_name->setObjectName(QStringLiteral("structureName"));
    m_name->setAccessibleName(tr("Module"));
    m_facts = addLabel(&Theme::text2, wordsFont(12));
    m_facts->setAccessibleName(tr("Shapes, parameters and device"));
    m_collectedTitle = addTitle(tr("Collected"));
    m_collected = addLabel(&Theme::text, wordsFont(12));
    m_collected->setTextFormat(Qt::RichText);
    m_collected->setObjectName(QStringLiteral("structureCollected"));
    m_collected->setAccessibleName(m_collectedTitle->text());
    m_additionsTitle = addTitle(tr("A click adds to the draft of the config"));
    m_additions = new QWidget(this);
    m_additions->setLayout(new QVBoxLayout);
    m_additions->layout()->setContentsMargins(0, 0, 0, 0);
    m_additions->layout()->setSpacing(4);
    m_layout->addWidget(m_additions);
    m_additionsHint = addLabel(&Theme::text3, wordsFont(11));
    m_additionsHint->setObjectName(QStringLiteral("structureHint"));
    m_additionsHint->setAccessibleName(m_additionsTitle->text());
    m_stackTitle = addTitle(tr("Called from"));
    m_stack = addLabel(&Theme::text, codeFont(12));
    m_stack->setObjectName(QStringLiteral("structureStack"));
    m_stack->setAccessibleName(tr("Called from"));
    makeStackLabel(m_stack);
    m_layout->addStretch();
    showNothing({});
}

RoleLabel* ModuleCard::addLabel(QColor Theme::*color, const QFont& font)
{
    auto* label = (new RoleLabel(color, font, this))->asData();
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    m_layout->addWidget(label);
    return label;
}

RoleLabel* ModuleCard::addTitle(const QString& text)
{
    m_layout->addSpacing(8);
    auto* label = new RoleLabel(text, &Theme::text2, wordsFont(11, 600), this);
    label->setWordWrap(true);
    m_layout->addWidget(label);
    return label;
}

void ModuleCard::show(const analysis::StructureItem& item, const std::vector<Kind>& kinds,
    const std::vector<analysis::ConfigAddition>& additions)
{
    items::assertGuiThread();
    m_name->setText(item.name.empty() ? tr("(model)") : QString::fromStdString(item.name));
    QStringList facts;
    facts.append(item.isParameter ? shapeText(item.shape) : QString::fromStdString(item.type));
    if (item.elements > 0)
        facts.append(item.trainable == item.elements
                ? tr("%1 parameters").arg(formatStep(static_cast<qint64>(item.elements)))
                : tr("%1 parameters, %2 of them are trained")
                      .arg(formatStep(static_cast<qint64>(item.elements)),
                          formatStep(static_cast<qint64>(item.trainable))));
    for (const std::string* word : { &item.dtype, &item.device }) {
        if (!word->empty())
            facts.append(QString::fromStdString(*word));
    }
    if (!item.shared.empty())
        facts.append(tr("same as %1").arg(QString::fromStdString(item.shared)));
    m_facts->setText(facts.join(items::comma()));
    QString lines;
    for (const Kind kind : kinds)
        lines += lineHtml(kindsText({ kind }));
    m_collected->setText(lines.isEmpty() ? lineHtml(tr("nothing")) : lines);
    qDeleteAll(m_additions->findChildren<QPushButton*>(QString(), Qt::FindDirectChildrenOnly));
    for (const analysis::ConfigAddition& addition : additions) {
        const QString pointer = QString::fromStdString(addition.pointer);
        const QString value = QString::fromStdString(addition.value);
        const QString field = QString(pointer).mid(1).replace(u'/', u'.');
        auto* button = new QPushButton(pointer == QLatin1String("/targets") ? tr("targets + %1").arg(m_name->text())
                                                                            : field + QStringLiteral(": ") + value,
            m_additions);
        button->setObjectName(QStringLiteral("structureAddition"));
        button->setProperty("isData", true);
        button->setFont(codeFont(12));
        button->setEnabled(m_isWritable);
        m_additions->layout()->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, pointer, value] { Q_EMIT additionWanted(pointer, value); });
        button->show();
    }
    const QString full = lines.isEmpty()
        ? tr("The config asks for all that costs little; a module that is never called itself has none of it.")
        : tr("Everything that costs little is collected of it already.");
    m_additionsHint->setText(additions.empty() ? full
            : !m_isWritable                    ? tr("There is no config to draft here.")
                            : tr("Fields other than targets are of every module that the config selects."));
    for (QWidget* part : std::initializer_list<QWidget*> {
             m_name, m_facts, m_collectedTitle, m_collected, m_additions, m_additionsHint })
        part->show();
    m_hasAdditions = !additions.empty();
    m_additionsTitle->setVisible(m_hasAdditions);
    m_isEmpty = false;
    setAccessibleDescription({});
    update();
}

void ModuleCard::showNothing(const QString& why)
{
    for (QWidget* part : std::initializer_list<QWidget*> { m_name, m_facts, m_collectedTitle, m_collected,
             m_additionsTitle, m_additions, m_additionsHint, m_stackTitle, m_stack })
        part->hide();
    m_isEmpty = true;
    setAccessibleDescription(why);
    update();
}

void ModuleCard::paintEvent(QPaintEvent*)
{
    if (!m_isEmpty)
        return;
    QPainter painter(this);
    paintEmptyState(painter, rect(), accessibleDescription(), Theme::current());
}

void ModuleCard::setPictured(bool isPicture)
{
    for (QWidget* part : std::initializer_list<QWidget*> { m_additions, m_additionsHint })
        part->setVisible(!isPicture && !m_isEmpty);
    m_additionsTitle->setVisible(!isPicture && !m_isEmpty && m_hasAdditions);
    m_layout->activate();
}

void ModuleCard::setStack(const QString& stack, bool areStacksThere)
{
    m_stack->setText(areStacksThere && stack.isEmpty() ? tr("Its stack was not taken: it did not run in that step.")
            : areStacksThere                           ? stackHtml(stack)
                             : tr("stack_info in the config takes the call stacks of all modules, once."));
    const bool isStack = areStacksThere && !stack.isEmpty();
    m_stack->setFont(isStack ? codeFont(12) : wordsFont(12));
    m_stack->setColor(isStack ? &Theme::text : &Theme::text3);
    m_stackTitle->show();
    m_stack->show();
}

void ModuleCard::setWritable(bool isWritable)
{
    m_isWritable = isWritable;
    for (auto* button : m_additions->findChildren<QPushButton*>())
        button->setEnabled(isWritable);
}

}
