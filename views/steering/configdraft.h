// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include <QObject>
#include <QString>

#include <telltale/config/field.h>
#include <telltale/config/revision.h>
#include <telltale/config/runcheck.h>

namespace telltale::views {

/// A config that somebody is writing, beside the one that runs: its text, what is wrong with it, what it changes. Form
/// and text edit the same draft, and each shows what the other did. Thread: gui.
class ConfigDraft : public QObject {
    Q_OBJECT
public:
    explicit ConfigDraft(QObject* parent = nullptr);

    /// What runs now. A draft that changed nothing of what ran changes nothing of this either; one that did stays as it
    /// is.
    void setRunning(const config::MonitorConfig& running, const QString& text);
    /// The run that it is for: its modules and ranks.
    void setRun(config::RunFacts facts);

    /// False of what a program wrote on one line, or without a comment on long ones: it is laid out for people. What a
    /// person laid out stays.
    static bool isLaidOut(const std::string& text);

    QString text() const { return m_text; }
    void setText(const QString& text);
    /// A field as the form has it; comments and everything else in the text stay. Nothing happens to a text that is no
    /// config.
    void setValue(const QString& pointer, const QString& json);
    /// The field as it runs now.
    void undo(const QString& pointer);
    /// All of it as it runs now.
    void revert();
    /// A whole config in its place; comments of the text stay where they can.
    void setConfig(const config::MonitorConfig& wanted);

    /// False: the text is no JSON object, and config() is what it was before.
    bool isConfig() const { return m_isConfig; }
    const config::MonitorConfig& config() const { return m_config; }
    const config::MonitorConfig& running() const { return m_running; }
    const config::RunFacts& run() const { return m_facts; }
    const std::vector<config::Problem>& problems() const { return m_problems; }
    int errors() const;
    /// Comments and layout aside, it is what runs.
    bool isUnchanged() const { return m_changes.empty() && (errors() == 0 || m_text == m_runningText); }
    /// A value that is not valid counts, too: what was written is its `after`.
    const std::vector<config::FieldChange>& changes() const { return m_changes; }
    /// As it was written where that is not valid, which config() has the default of.
    config::Json valueOf(const config::Field& field) const;
    bool isInvalid(const std::string& pointer) const { return m_invalid.contains(pointer); }
    /// Null when the draft does not change the field.
    const config::FieldChange* changeOf(const QString& pointer) const;

Q_SIGNALS:
    void changed();
    void runChanged(); ///< it is for another run, or that one's model is known now

private:
    void read();
    void findInvalid();
    void addInvalid();

    QString m_text;
    QString m_runningText;
    config::MonitorConfig m_config;
    config::MonitorConfig m_running;
    config::RunFacts m_facts;
    std::vector<config::Problem> m_problems;
    std::vector<config::FieldChange> m_changes;
    std::map<std::string, std::string> m_invalid; ///< by pointer, of the last text that was a config
    bool m_isConfig = true;
};

}
