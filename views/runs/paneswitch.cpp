// SPDX-License-Identifier: GPL-3.0-or-later
#include "paneswitch.h"

#include <QEvent>
#include <QSplitter>
#include <QToolButton>

#include "panelhead.h"

namespace telltale::views {

PaneSwitch::PaneSwitch(QSplitter* split, Pane first, Pane second, int enough)
    : QObject(split)
    , m_split(split)
    , m_panes { first, second }
    , m_enough(enough)
{
    for (std::size_t i = 0; i < m_panes.size(); ++i) {
        const std::size_t other = 1 - i;
        m_buttons[i] = m_panes[i].head->addButton(QStringLiteral("swap"), m_panes[other].head->title());
        connect(m_buttons[i], &QToolButton::clicked, this, [this, other] {
            QList<int> sizes = m_split->sizes();
            for (const Pane& pane : m_panes) // as wide as the other: the button stays where it was
                sizes[m_split->indexOf(pane.box)] = m_panes[1 - other].box->width();
            m_shown = other;
            arrange();
            m_split->setSizes(sizes);
            m_buttons[other]->setFocus();
        });
    }
    split->installEventFilter(this);
    arrange();
}

bool PaneSwitch::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        arrange();
    return QObject::eventFilter(watched, event);
}

void PaneSwitch::arrange()
{
    const bool isNarrow = m_split->width() < m_enough;
    bool isNew = false;
    bool hadFocus = false;
    // What is shown first: else the focus goes through what is hidden then.
    for (const std::size_t i : { m_shown, 1 - m_shown }) {
        QWidget* box = m_panes[i].box;
        const bool isShown = !isNarrow || i == m_shown;
        isNew = isNew || box->isHidden() == isShown;
        hadFocus = hadFocus || (!isShown && box->isAncestorOf(box->window()->focusWidget()));
        m_buttons[i]->setVisible(isNarrow);
        box->setVisible(isShown);
    }
    if (isNew)
        Q_EMIT arranged(hadFocus);
}

}
