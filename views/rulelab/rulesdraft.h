// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QObject>
#include <QString>

#include <telltale/judge/rules.h>

namespace telltale::views {

/// Rules that somebody tries, beside those in force: as a document, and as what it says. Form and text edit the same
/// draft, and each shows what the other did. Thread: gui.
class RulesDraft : public QObject {
    Q_OBJECT
public:
    explicit RulesDraft(QObject* parent = nullptr);

    /// A draft that changed nothing of what was in force changes nothing of this either.
    void setInForce(const judge::Rules& rules);
    const judge::Rules& inForce() const { return m_inForce; }

    void setText(const QString& text);
    QString text() const { return m_text; }
    /// As far as the text has no problem.
    const judge::Rules& rules() const { return m_rules; }
    const std::vector<judge::RulesProblem>& problems() const { return m_problems; }
    bool isChanged() const { return m_rules != m_inForce; }

    // Edits of the document where it stands; a document with a problem elsewhere is edited all the same.
    void setOn(judge::Rule rule, bool on);
    void setValue(judge::Rule rule, std::size_t parameter, double value);
    /// What more is collected around the incidents of a rule; "" = nothing. A config that is none is a problem.
    void setEscalation(judge::Rule rule, const QString& config, std::int64_t steps, std::int64_t times);
    void revert(); ///< to what is in force

    static QString numberText(double value); ///< as documents write it

Q_SIGNALS:
    void changed();

private:
    void replace(const std::string& pointer, const std::string& json, const judge::Rules& whole);

    judge::Rules m_inForce;
    judge::Rules m_rules;
    QString m_text;
    std::vector<judge::RulesProblem> m_problems;
};

}
