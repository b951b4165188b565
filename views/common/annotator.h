// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QObject>
#include <QString>

#include <telltale/judge/incident.h>
#include <telltale/store/runhandle.h>

namespace telltale::views {

/// Writes what a person says of incidents into the run's log. What was said shows when the log has it. Thread: gui.
class Annotator : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Hands an event to the store, and returns false where that has no room; set by who makes the window. Empty: this
    /// program writes nothing.
    std::function<bool(const store::RunLocator&, Event)> write;
    QString folder; ///< whose runs this program may write

    /// Who wrote something, for people: where the system names nobody, the window.
    static QString writerText(const std::string& author);
    /// One sentence where nothing can be said of a run, else empty.
    QString whyNot(const store::RunRef& run) const;
    void say(const store::RunRef& run, const judge::Incident& incident, judge::Annotation::Action action,
        const QString& note = {});

    /// Another event of the run, of rank -1, with who says it and, where it has no time yet, when. False where it is
    /// not taken.
    bool append(const store::RunRef& run, Event event);

Q_SIGNALS:
    void refused(const QString& sentence); ///< of the last say() or append()
};

}
