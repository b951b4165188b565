// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QRegularExpression>
#include <QString>

namespace telltale::items {

/// What a filter field means: plain text (anywhere in the name, case ignored), a glob when it holds * or ? or [
/// (the whole name, case ignored), or /a regular expression/. Thread: any (a value).
class NamePattern {
public:
    NamePattern() = default;
    explicit NamePattern(const QString& text);

    bool matchesAll() const { return m_form == Form::All; }
    bool isValid() const { return m_error.isEmpty(); }
    /// Why a regular expression cannot be used; such a pattern matches nothing.
    QString error() const { return m_error; }

    /// `name` in UTF-8, `folded` the same in lower case (what fold gives).
    bool matches(const QString& name, const std::string& folded) const;
    bool matches(const QString& name) const { return matches(name, fold(name)); }
    static std::string fold(const QString& name);

    /// Which of many names match: one scan over all of them joined, not one search a name.
    class Names {
    public:
        Names() = default;
        explicit Names(const std::vector<QString>& names); ///< none of them holds a newline
        std::size_t size() const { return m_starts.empty() ? 0 : m_starts.size() - 1; }

    private:
        friend class NamePattern;
        std::string foldedName(std::size_t i) const;

        QString m_joined; ///< each followed by a newline
        std::string m_folded; ///< the same in lower case UTF-8
        std::vector<std::size_t> m_starts; ///< in m_joined, and the end
        std::vector<std::size_t> m_foldedStarts;
    };
    std::vector<bool> matchEach(const Names& names) const;

private:
    enum class Form { All, Text, Glob, Expression };

    void matchText(const Names& names, const std::string& text, std::vector<bool>& hits) const;
    void matchExpression(const Names& names, std::vector<bool>& hits) const;

    Form m_form = Form::All;
    std::string m_text;
    QRegularExpression m_expression;
    QString m_error;
};

/// Whether all of `text` matches `glob`: * any run, ? one byte, [a-z] and [!a-z] one of a set. Linear in practice.
bool globMatches(const std::string& glob, const std::string& text);

}
