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

private:
    enum class Form { All, Text, Glob, Expression };

    Form m_form = Form::All;
    std::string m_text;
    QRegularExpression m_expression;
    QString m_error;
};

/// Whether all of `text` matches `glob`: * any run, ? one byte, [a-z] and [!a-z] one of a set. Linear in practice.
bool globMatches(const std::string& glob, const std::string& text);

}
