// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/common/glyphs.h>

namespace telltale::views {

class RoleLabel;

/// A severity's shape and a text beside it that may take several lines.
class GlyphLine : public QWidget {
    Q_OBJECT
public:
    static constexpr int kIndent = 18; ///< px of the shape, before the words

    explicit GlyphLine(const QFont& font, QWidget* parent = nullptr);

    void set(glyphs::Severity severity, const QString& text);
    RoleLabel* label() const { return m_label; }
    glyphs::Severity severity() const { return m_severity; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    RoleLabel* m_label;
    glyphs::Severity m_severity = glyphs::Severity::Notice;
};

}
