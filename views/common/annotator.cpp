// SPDX-License-Identifier: GPL-3.0-or-later
#include "annotator.h"

#include <QDateTime>
#include <QDir>

#include <telltale/items/guithread.h>

namespace telltale::views {

QString Annotator::writerText(const std::string& author)
{
    return author == "window" ? tr("the window") : QString::fromStdString(author);
}

QString Annotator::whyNot(const store::RunRef& run) const
{
    if (!run)
        return tr("No run is open.");
    if (!write)
        return tr("Another Telltale writes the runs of this folder: say it there.");
    const QString path = QDir::cleanPath(QString::fromStdString(run->locator.text()));
    if (!path.startsWith(QDir::cleanPath(folder) + u'/'))
        return tr("This file is not among the runs of this Telltale: import it to write into it.");
    return {};
}

void Annotator::say(
    const store::RunRef& run, const judge::Incident& incident, judge::Annotation::Action action, const QString& note)
{
    append(run, judge::annotationEvent({ incident.id, action, note.toStdString() }, incident.opened, {}, 0));
}

bool Annotator::append(const store::RunRef& run, Event event)
{
    items::assertGuiThread();
    QString why = whyNot(run);
    if (why.isEmpty()) {
        event.author = qEnvironmentVariable("USER", QStringLiteral("window")).toStdString();
        if (event.wallNs == 0)
            event.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
        if (!write(run->locator, std::move(event)))
            why = tr("The store has no room for this now; try again in a moment.");
    }
    if (!why.isEmpty())
        Q_EMIT refused(why);
    return why.isEmpty();
}

}
