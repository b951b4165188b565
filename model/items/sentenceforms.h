// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <QRegularExpression>
#include <QString>

namespace telltale::items {

/// Sentences that parts without Qt say in English, by their form ("it answered %1"), to say them in the language of the
/// window. The texts are marked with QT_TRANSLATE_NOOP where they stand. Thread: any (constant).
class SentenceForms {
public:
    /// `any`: what may stand for a place, as an expression with one group. Of two forms that fit the first counts.
    SentenceForms(const char* context, std::span<const char* const> texts, const QString& any);

    /// `inner`: what becomes of that which stands for a place. Empty where there is no such form.
    QString translated(const QString& english, const std::function<QString(const QString&)>& inner) const;

private:
    struct Form {
        const char* text;
        QString longest; ///< part between places: where it is missing, nothing is matched
        QRegularExpression pattern;
    };
    const char* m_context;
    std::vector<Form> m_forms;
};

}
