// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTranslator>

namespace telltale::test {

/// A language that nobody speaks: every string longer, accented and in brackets, so that a picture shows at once what
/// is not translated and what has no room. Placeholders and mnemonics stay. Thread: gui.
class PseudoLocale : public QTranslator {
public:
    using QTranslator::QTranslator;

    bool isEmpty() const override { return false; }
    QString translate(const char*, const char* source, const char*, int) const override
    {
        const QString text = QString::fromUtf8(source);
        QString out(QChar(0x27E6));
        for (qsizetype i = 0; i < text.size(); ++i) {
            if (text[i] == u'%' && i + 1 < text.size()) {
                out += text[i++];
                out += text[i];
                continue;
            }
            static const QString kPlain = QStringLiteral("aceinorsuyACEINOSU");
            static const QString kAccented = QString::fromUtf8("áçéíñóŕšúýÁÇÉÍÑÓŠÚ");
            const qsizetype at = kPlain.indexOf(text[i]);
            out += at < 0 ? text[i] : kAccented[at];
        }
        out += QString((text.size() + 3) / 4, u'~');
        return out + QChar(0x27E7);
    }

    static bool isPseudo(const QString& text) { return text.contains(QChar(0x27E6)); }
};

}
