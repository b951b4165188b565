// SPDX-License-Identifier: GPL-3.0-or-later
#include "shownname.h"

#include <QCoreApplication>

#include "moduletree.h"

namespace telltale::items {

QString shownName(const QString& name)
{
    if (name == kWholeModel)
        return QCoreApplication::translate("telltale::items::ModuleTreeModel", "(model)");
    const qsizetype open = name.indexOf(QLatin1String(" ("));
    if (open < 0 || !name.endsWith(u')'))
        return name;
    const auto [place, function] = codePlace(name.mid(open + 2, name.size() - open - 3));
    return function.isEmpty() ? name : name.left(open + 1) + place + u' ' + function;
}

QString shownSlot(const Slot& slot)
{
    using telltale::Role; // not that of items
    Slot shown = slot;
    if (slot.role == Role::Before || slot.role == Role::After) {
        shown.role = Role::Named;
        shown.word = (slot.role == Role::Before ? QCoreApplication::translate("Slot", "before")
                                                : QCoreApplication::translate("Slot", "after"))
                         .toStdString();
        if (shown.number == 0)
            shown.number = -1; // most have one argument
    }
    QString text = QString::fromStdString(shown.text());
    if (slot.head >= 0) {
        const QString head = QStringLiteral("head_%1").arg(slot.head);
        text.replace(
            text.lastIndexOf(head), head.size(), QCoreApplication::translate("Slot", "head %1").arg(slot.head));
    }
    return text;
}

QString shownTensor(const QString& name, const Slot& slot, QChar between)
{
    const QString words = shownSlot(slot);
    return words.isEmpty() ? shownName(name) : shownName(name) + between + words;
}

std::pair<QString, QString> codePlace(const QString& line)
{
    const qsizetype open = line.lastIndexOf(u'[');
    const qsizetype close = line.indexOf(u']', open);
    if (open < 0 || close < 0)
        return { line.trimmed(), QString() };
    return { line.left(open) + u':' + line.mid(open + 1, close - open - 1), line.mid(close + 1).trimmed() };
}

}
