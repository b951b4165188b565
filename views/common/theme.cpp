// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

#include <QApplication>
#include <QPixmapCache>

#include "themestyle.h"

namespace telltale::views {

namespace {

Theme makeDark()
{
    Theme t;
    t.mode = Theme::Mode::Dark;
    t.window = QColor(0x1D2024);
    t.base = QColor(0x15171A);
    t.alt = QColor(0x191B1F);
    t.raised = QColor(0x282C32);
    t.hover = QColor(0x2A2E35);
    t.border = QColor(0x31363D);
    t.controlBorder = QColor(0x454C55);
    t.strong = QColor(0x6B7480);
    t.text = QColor(0xE4E7EA);
    t.text2 = QColor(0xA6AEB8);
    t.text3 = QColor(0x858E9A);
    t.accent = QColor(0x62B0F8);
    t.onAccent = QColor(0x0E1A26);
    t.selection = QColor(0x214468);
    t.ok = QColor(0x46BE8C);
    t.warnText = QColor(0xE5A93B);
    t.warnMark = QColor(0xE5A93B);
    t.criticalText = QColor(0xFF5C86);
    t.selectedCritical = QColor(0xFF92AC);
    t.criticalMark = QColor(0xFD2D65);
    t.notice = QColor(0x8FA3BD);
    t.series = { QColor(0x62B0F8), QColor(0xFFB24F), QColor(0xBDFAC8), QColor(0x2E8C7C), QColor(0xFFDBFB),
        QColor(0x708500) };
    return t;
}

Theme makeLight()
{
    Theme t;
    t.mode = Theme::Mode::Light;
    t.window = QColor(0xF2F3F5);
    t.base = QColor(0xFFFFFF);
    t.alt = QColor(0xF7F8F9);
    t.raised = QColor(0xFFFFFF);
    t.hover = QColor(0xE8EAED);
    t.border = QColor(0xD7DBE0);
    t.controlBorder = QColor(0xB4BAC2);
    t.strong = QColor(0x868E98);
    t.text = QColor(0x1A1E23);
    t.text2 = QColor(0x4F5761);
    t.text3 = QColor(0x69717B);
    t.accent = QColor(0x1463C4);
    t.onAccent = QColor(0xFFFFFF);
    t.selection = QColor(0xCFE2FA);
    t.ok = QColor(0x0E7548);
    t.warnText = QColor(0x8A5700);
    t.warnMark = QColor(0xC98200);
    t.criticalText = QColor(0xC80F4B);
    t.selectedCritical = QColor(0xB00C41);
    t.criticalMark = QColor(0xFD2D65);
    t.notice = QColor(0x52667F);
    t.series = { QColor(0x1463C4), QColor(0x944300), QColor(0x01A2C5), QColor(0x004937), QColor(0x650E61),
        QColor(0x8B9B5A) };
    return t;
}

const Theme*& inForce()
{
    static const Theme* theme = &Theme::dark();
    return theme;
}

}

const Theme& Theme::dark()
{
    static const Theme theme = makeDark();
    return theme;
}

const Theme& Theme::light()
{
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::current()
{
    return *inForce();
}

void Theme::apply(QApplication& app, Mode mode)
{
    const Theme& theme = mode == Mode::Dark ? dark() : light();
    inForce() = &theme;
    QPixmapCache::clear();
    app.setFont(wordsFont(13));
    app.setStyle(std::make_unique<ThemeStyle>().release()); // the application owns its style
    app.setPalette(theme.palette());
    app.setStyleSheet(theme.styleSheet());
}

QColor Theme::onSelection(const QColor& color) const
{
    return color == criticalText ? selectedCritical : color == text3 ? text : color;
}

QPalette Theme::palette() const
{
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, base);
    p.setColor(QPalette::AlternateBase, alt);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::Button, raised);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, criticalText);
    p.setColor(QPalette::ToolTipBase, raised);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::PlaceholderText, text3);
    p.setColor(QPalette::Mid, border);
    p.setColor(QPalette::Dark, controlBorder);
    p.setColor(QPalette::Midlight, hover);
    p.setColor(QPalette::Light, raised);
    p.setColor(QPalette::Shadow, border);
    p.setColor(QPalette::Highlight, selection);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::LinkVisited, accent);
    for (const QPalette::ColorRole role :
        { QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText })
        p.setColor(QPalette::Disabled, role, text3);
    p.setColor(QPalette::Disabled, QPalette::Base, window);
    p.setColor(QPalette::Disabled, QPalette::Highlight, border);
    return p;
}

}
