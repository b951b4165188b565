// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRegularExpression>
#include <QString>

namespace telltale::views {

/// What the user typed to narrow modules down: part of a name, a glob over the whole name, or /a regular expression/.
/// Case does not count in the first two. Thread: any (a value).
class ModuleFilter {
public:
    ModuleFilter() = default;
    explicit ModuleFilter(const QString& text);

    bool isEmpty() const { return m_mode == Mode::All; }
    /// False for a regular expression that does not compile; then nothing matches.
    bool isValid() const { return m_mode != Mode::Pattern || m_pattern.isValid(); }
    QString errorString() const { return isValid() ? QString() : m_pattern.errorString(); }
    bool matches(const QString& name) const;

private:
    enum class Mode { All, Part, Pattern };
    Mode m_mode = Mode::All;
    QString m_text;
    QRegularExpression m_pattern;
};

}
