// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace telltale::views {

/// A field that has it set to true is edged as one whose text is an error.
inline constexpr const char* kProblemProperty = "telltaleProblem";
/// Of a header whose words have no more beside them than their padding.
inline constexpr const char* kTightHeader = "telltaleTight";

/// Fusion with the heights, flat fills, radii and keyboard focus ring of the design. Reads Theme::current() at paint
/// time.
class ThemeStyle : public QProxyStyle {
    Q_OBJECT
public:
    ThemeStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    QSize sizeFromContents(
        ContentsType type, const QStyleOption* option, const QSize& size, const QWidget* widget) const override;
    int pixelMetric(
        PixelMetric metric, const QStyleOption* option = nullptr, const QWidget* widget = nullptr) const override;
    using QProxyStyle::polish;
    void polish(QWidget* widget) override;
    /// The rows of a view show their focus from a key to the next click. A turn of the wheel that scrolls a form
    /// changes none of the fields that come under the pointer.
    bool eventFilter(QObject* watched, QEvent* event) override;
    int styleHint(StyleHint hint, const QStyleOption* option = nullptr, const QWidget* widget = nullptr,
        QStyleHintReturn* data = nullptr) const override;
    /// Our own where Qt draws a dialog for files itself.
    QIcon standardIcon(
        StandardPixmap which, const QStyleOption* option = nullptr, const QWidget* widget = nullptr) const override;
    QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
        const QWidget* widget) const override;
};

}
