// SPDX-License-Identifier: GPL-3.0-or-later
#include "themestyle.h"

#include <algorithm>
#include <map>
#include <typeinfo>

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QPainter>
#include <QPainterPath>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSlider>
#include <QStyleFactory>
#include <QStyleOption>
#include <QStyledItemDelegate>

#include "theme.h"

namespace telltale::views {

namespace {

constexpr double kRadius = 4;

void paintBox(QPainter* painter, const QRect& rect, const QColor& fill, const QColor& edge)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(edge.isValid() ? QPen(edge, 1) : QPen(Qt::NoPen));
    painter->setBrush(fill);
    painter->drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    painter->restore();
}

/// Inside the control's own rect, because a style cannot paint outside it.
void paintFocus(QPainter* painter, const QRect& rect)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(Theme::current().accent, 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), kRadius, kRadius);
    painter->restore();
}

/// A field whose value the wheel turns.
bool isTurned(const QObject* widget)
{
    return qobject_cast<const QComboBox*>(widget) != nullptr || qobject_cast<const QAbstractSpinBox*>(widget) != nullptr
        || qobject_cast<const QSlider*>(widget) != nullptr;
}

/// Of the views that have none of their own: knows kThemeColorRole.
class ItemDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        const QVariant color = index.data(kThemeColorRole);
        if (!color.canConvert<ThemeColor>())
            return;
        const Theme& theme = Theme::current();
        const QColor text = theme.*color.value<ThemeColor>();
        option->palette.setColor(QPalette::Text, text);
        option->palette.setColor(QPalette::HighlightedText, theme.onSelection(text));
    }
};

bool hasKeyboardFocus(const QStyleOption* option)
{
    return option->state.testFlag(QStyle::State_HasFocus) && option->state.testFlag(QStyle::State_KeyboardFocusChange);
}

void paintChevron(QPainter* painter, QPointF center, const QColor& color)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF points[] = { center + QPointF(-3.5, -1.75), center + QPointF(0, 1.75), center + QPointF(3.5, -1.75) };
    painter->drawPolyline(points, 3);
    painter->restore();
}

void paintCheckBox(QPainter* painter, const QStyleOption* option)
{
    const Theme& theme = Theme::current();
    const bool isOn = option->state.testFlag(QStyle::State_On) || option->state.testFlag(QStyle::State_NoChange);
    const bool isEnabled = option->state.testFlag(QStyle::State_Enabled);
    const QColor on = isEnabled ? theme.accent : theme.controlBorder;
    paintBox(painter, option->rect, isOn ? on : theme.base, isOn ? on : isEnabled ? theme.strong : theme.controlBorder);
    if (!isOn)
        return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(theme.base, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QRectF box(option->rect);
    const auto at = [&box](double x, double y) { return box.topLeft() + QPointF(box.width() * x, box.height() * y); };
    const QPointF mark[] = { at(0.26, 0.52), at(0.43, 0.69), at(0.75, 0.33) };
    const QPointF some[] = { at(0.28, 0.5), at(0.72, 0.5) };
    if (option->state.testFlag(QStyle::State_NoChange))
        painter->drawPolyline(some, 2);
    else
        painter->drawPolyline(mark, 3);
    painter->restore();
}

/// A line that is filled up to a round handle. `groove` and `handle`: what the base style makes room for.
void paintSlider(QPainter* painter, const QStyleOptionSlider* option, const QRect& groove, const QRect& handle)
{
    const Theme& theme = Theme::current();
    const bool isEnabled = option->state.testFlag(QStyle::State_Enabled);
    const QPointF at = QRectF(handle).center();
    const QRectF line(groove.left(), at.y() - 1.5, groove.width(), 3);
    QRectF filled = line;
    option->upsideDown ? filled.setLeft(at.x()) : filled.setRight(at.x());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.border);
    painter->drawRoundedRect(line, 1.5, 1.5);
    if (isEnabled) {
        painter->setBrush(theme.accent);
        painter->drawRoundedRect(filled, 1.5, 1.5);
        const bool isHeld = option->activeSubControls.testFlag(QStyle::SC_SliderHandle)
            && (option->state.testFlag(QStyle::State_Sunken) || option->state.testFlag(QStyle::State_MouseOver));
        painter->setPen(QPen(theme.accent, 1.5));
        painter->setBrush(isHeld ? theme.accent : theme.base);
        painter->drawEllipse(at, 5, 5);
    }
    painter->restore();
}

QColor fillFor(const QStyleOption* option)
{
    const Theme& theme = Theme::current();
    if (!option->state.testFlag(QStyle::State_Enabled))
        return theme.window;
    if (option->state.testFlag(QStyle::State_Sunken) || option->state.testFlag(QStyle::State_On))
        return theme.border;
    return option->state.testFlag(QStyle::State_MouseOver) ? theme.hover : theme.raised;
}

}

ThemeStyle::ThemeStyle()
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion")))
{
}

void ThemeStyle::drawPrimitive(
    PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    const Theme& theme = Theme::current();
    switch (element) {
    case PE_PanelButtonCommand: {
        const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
        const bool isDefault = button && button->features.testFlag(QStyleOptionButton::DefaultButton)
            && option->state.testFlag(State_Enabled);
        paintBox(painter, option->rect, isDefault ? theme.accent : fillFor(option),
            isDefault ? theme.accent : theme.controlBorder);
        return;
    }
    case PE_PanelButtonTool:
        if (option->state.testFlag(State_Enabled)
            && (option->state.testFlag(State_MouseOver) || option->state.testFlag(State_Sunken)
                || option->state.testFlag(State_On)))
            paintBox(painter, option->rect, option->state.testFlag(State_MouseOver) ? theme.hover : theme.raised,
                option->state.testFlag(State_On) ? theme.controlBorder : QColor());
        if (hasKeyboardFocus(option))
            paintFocus(painter, option->rect);
        return;
    case PE_PanelLineEdit:
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option); frame && frame->lineWidth > 0) {
            const bool focused = option->state.testFlag(State_HasFocus);
            const bool isWrong = widget && widget->property(kProblemProperty).toBool();
            paintBox(painter, option->rect, option->state.testFlag(State_Enabled) ? theme.base : theme.window,
                isWrong       ? theme.criticalMark
                    : focused ? theme.accent
                              : theme.controlBorder);
            return;
        }
        break;
    case PE_FrameLineEdit:
        return;
    case PE_FrameTabBarBase: // Fusion has a bevel of two lines
        painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), theme.border);
        return;
    case PE_Frame:
        if (qobject_cast<const QPlainTextEdit*>(widget) != nullptr) {
            const bool focused = option->state.testFlag(State_HasFocus);
            paintBox(painter, option->rect, theme.base, focused ? theme.accent : theme.controlBorder);
            return;
        }
        break;
    case PE_FrameFocusRect:
        // Items have the flag always, so that the window is asked; a tree tells of itself in the option alone.
        if (const auto* view = qobject_cast<const QAbstractItemView*>(option->styleObject)) {
            if (view->window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
                painter->setPen(theme.accent);
                painter->setBrush(Qt::NoBrush);
                painter->drawRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5));
            }
            return;
        }
        // Of a tab it is what the words take, through which a ring goes.
        if (option->state.testFlag(State_KeyboardFocusChange))
            paintFocus(
                painter, qobject_cast<const QTabBar*>(widget) ? option->rect.adjusted(-12, 0, 12, 0) : option->rect);
        return;
    case PE_IndicatorCheckBox:
        paintCheckBox(painter, option);
        return;
    case PE_IndicatorArrowDown:
        paintChevron(painter, QRectF(option->rect).center(), theme.text2);
        return;
    default:
        break;
    }
    QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void ThemeStyle::drawControl(
    ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    if (element == CE_PushButtonLabel) {
        const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
        if (button && button->features.testFlag(QStyleOptionButton::DefaultButton)
            && option->state.testFlag(State_Enabled)) {
            QStyleOptionButton copy = *button;
            copy.palette.setColor(QPalette::ButtonText, Theme::current().onAccent);
            QProxyStyle::drawControl(element, &copy, painter, widget);
            return;
        }
    }
    if (element == CE_ComboBoxLabel) {
        const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
        if (combo && !combo->editable) {
            QRect field = subControlRect(CC_ComboBox, combo, SC_ComboBoxEditField, widget);
            if (!combo->currentIcon.isNull()) {
                combo->currentIcon.paint(
                    painter, QRect(field.topLeft(), QSize(combo->iconSize.width(), field.height())));
                field.setLeft(field.left() + combo->iconSize.width() + 4);
            }
            painter->setPen(option->state.testFlag(State_Enabled) ? Theme::current().text : Theme::current().text3);
            painter->drawText(field, Qt::AlignVCenter | Qt::AlignLeft,
                painter->fontMetrics().elidedText(combo->currentText, Qt::ElideRight, field.width()));
            return;
        }
    }
    if (element == CE_HeaderLabel) {
        constexpr int kSortMark = 14; // px at the right: the sheet would have words that end there under the arrow
        const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
        if (header && header->sortIndicator != QStyleOptionHeader::None) {
            QStyleOptionHeaderV2 copy;
            if (const auto* whole = qstyleoption_cast<const QStyleOptionHeaderV2*>(option))
                copy = *whole;
            else
                static_cast<QStyleOptionHeader&>(copy) = *header;
            copy.rect.setRight(copy.rect.right() - kSortMark);
            QProxyStyle::drawControl(element, &copy, painter, widget);
            return;
        }
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void ThemeStyle::drawComplexControl(
    ComplexControl control, const QStyleOptionComplex* option, QPainter* painter, const QWidget* widget) const
{
    const auto* spin = control == CC_SpinBox ? qstyleoption_cast<const QStyleOptionSpinBox*>(option) : nullptr;
    if (spin != nullptr && spin->buttonSymbols == QAbstractSpinBox::NoButtons) {
        const Theme& colors = Theme::current();
        paintBox(painter, option->rect, option->state.testFlag(State_Enabled) ? colors.base : colors.window,
            option->state.testFlag(State_HasFocus) ? colors.accent : colors.controlBorder);
        return;
    }
    const auto* slider = control == CC_Slider ? qstyleoption_cast<const QStyleOptionSlider*>(option) : nullptr;
    if (slider != nullptr && slider->orientation == Qt::Horizontal && slider->tickPosition == QSlider::NoTicks) {
        paintSlider(painter, slider, subControlRect(CC_Slider, slider, SC_SliderGroove, widget),
            subControlRect(CC_Slider, slider, SC_SliderHandle, widget));
        if (hasKeyboardFocus(option))
            paintFocus(painter, option->rect);
        return;
    }
    if (control == CC_ComboBox) {
        const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
        if (combo && !combo->editable) {
            paintBox(painter, option->rect, fillFor(option), Theme::current().controlBorder);
            paintChevron(painter, QPointF(option->rect.right() - 12, QRectF(option->rect).center().y()),
                option->state.testFlag(State_Enabled) ? Theme::current().text2 : Theme::current().text3);
            if (hasKeyboardFocus(option))
                paintFocus(painter, option->rect);
            return;
        }
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

QSize ThemeStyle::sizeFromContents(
    ContentsType type, const QStyleOption* option, const QSize& size, const QWidget* widget) const
{
    QSize result = QProxyStyle::sizeFromContents(type, option, size, widget);
    switch (type) {
    case CT_PushButton:
        result.setHeight(28);
        if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            !button || !button->features.testFlag(QStyleOptionButton::Flat)) // no edge needs no room
            result.setWidth(std::max(result.width() + 8, 64));
        break;
    case CT_ComboBox:
        result.setHeight(24);
        result.setWidth(size.width() + 10 + 28);
        break;
    case CT_LineEdit:
        result.setHeight(26);
        break;
    case CT_ToolButton:
        if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
            button && button->text.isEmpty())
            result = QSize(26, 26);
        else
            result.setHeight(26);
        break;
    default:
        break;
    }
    return result;
}

int ThemeStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    switch (metric) {
    case PM_ButtonIconSize:
    case PM_SmallIconSize:
    case PM_ToolBarIconSize:
    case PM_TabBarIconSize:
        return 16;
    case PM_SplitterWidth:
    case PM_DockWidgetSeparatorExtent:
        return 1;
    case PM_DefaultFrameWidth: // at a scale of 1.5 the text would cover half of a frame of 1
        return qobject_cast<const QPlainTextEdit*>(widget) != nullptr ? 2 : 1;
    case PM_HeaderMargin:
        return widget && widget->property(kTightHeader).toBool() ? 0 : QProxyStyle::pixelMetric(metric, option, widget);
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
        return 0;
    case PM_TreeViewIndentation:
        return 16;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

void ThemeStyle::polish(QWidget* widget)
{
    QProxyStyle::polish(widget);
    if (isTurned(widget))
        widget->installEventFilter(this);
    if (auto* header = qobject_cast<QHeaderView*>(widget)) {
        // The rule below its words goes to the end; what the dialog itself sets comes after this.
        const auto stretch = [header] {
            const QWidget* up = header;
            while (up && !qobject_cast<const QFileDialog*>(up))
                up = up->parentWidget();
            if (up)
                header->setStretchLastSection(true);
        };
        QMetaObject::invokeMethod(header, stretch, Qt::QueuedConnection);
    }
    auto* view = qobject_cast<QAbstractItemView*>(widget);
    if (view != nullptr) {
        view->installEventFilter(this);
        view->viewport()->installEventFilter(this);
    }
    constexpr const char* kIsDone = "telltaleDelegate";
    if (widget->property(kIsDone).toBool())
        return;
    if (auto* combo = qobject_cast<QComboBox*>(widget)) // its own delegate knows nothing of the sheet
        combo->setItemDelegate(new QStyledItemDelegate(combo));
    else if (const auto* own = view ? view->itemDelegate() : nullptr;
             own && typeid(*own) == typeid(QStyledItemDelegate))
        view->setItemDelegate(new ItemDelegate(view));
    else
        return;
    widget->setProperty(kIsDone, true);
}

/// A list is as wide as its words, where its field was narrowed.
static void widenList(QComboBox* combo)
{
    constexpr int kMost = 480;
    combo->view()->setMinimumWidth(std::min(kMost,
        combo->view()->sizeHintForColumn(combo->modelColumn()) + 2 * combo->view()->frameWidth()
            + combo->style()->pixelMetric(QStyle::PM_ScrollBarExtent)));
}

/// Which row has the focus is said to the keyboard alone: a click says it by itself.
static void noteFocusChange(const QObject* watched, const QEvent* event)
{
    const auto* view = qobject_cast<const QAbstractItemView*>(watched);
    const auto* above = qobject_cast<const QAbstractItemView*>(watched->parent());
    if (view != nullptr && event->type() == QEvent::KeyPress)
        view->window()->setAttribute(Qt::WA_KeyboardFocusChange);
    else if (above != nullptr && above->viewport() == watched && event->type() == QEvent::MouseButtonPress)
        above->window()->setAttribute(Qt::WA_KeyboardFocusChange, false);
}

bool ThemeStyle::eventFilter(QObject* watched, QEvent* event)
{
    noteFocusChange(watched, event);
    if (auto* combo = qobject_cast<QComboBox*>(watched);
        combo && (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::KeyPress))
        widenList(combo);
    if (event->type() == QEvent::Wheel && isTurned(watched)) {
        for (QObject* above = watched->parent(); above != nullptr; above = above->parent()) {
            if (const auto* form = qobject_cast<QScrollArea*>(above)) {
                QCoreApplication::sendEvent(form->viewport(), event);
                return true;
            }
        }
    }
    return QProxyStyle::eventFilter(watched, event);
}

int ThemeStyle::styleHint(
    StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* data) const
{
    switch (hint) {
    case SH_ItemView_ShowDecorationSelected:
        return 1;
    case SH_ComboBox_Popup:
    case SH_DialogButtonBox_ButtonsHaveIcons:
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
        return 0;
    default:
        return QProxyStyle::styleHint(hint, option, widget, data);
    }
}

QIcon ThemeStyle::standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const
{
    static const std::map<StandardPixmap, QString> kOwn {
        { SP_ArrowBack, QStringLiteral("left") },
        { SP_ArrowForward, QStringLiteral("right") },
        { SP_ComputerIcon, QStringLiteral("disk") },
        { SP_DesktopIcon, QStringLiteral("folder") },
        { SP_DirClosedIcon, QStringLiteral("folder") },
        { SP_DirHomeIcon, QStringLiteral("folder") },
        { SP_DirIcon, QStringLiteral("folder") },
        { SP_DirLinkIcon, QStringLiteral("folder") },
        { SP_DirOpenIcon, QStringLiteral("folder") },
        { SP_DriveHDIcon, QStringLiteral("disk") },
        { SP_FileDialogDetailedView, QStringLiteral("layout") },
        { SP_FileDialogListView, QStringLiteral("grid") },
        { SP_FileDialogNewFolder, QStringLiteral("plus") },
        { SP_FileDialogToParent, QStringLiteral("exp") },
        { SP_FileIcon, QStringLiteral("note") },
        { SP_FileLinkIcon, QStringLiteral("note") },
        { SP_LineEditClearButton, QStringLiteral("x") },
        { SP_MessageBoxCritical, QStringLiteral("warn") },
        { SP_MessageBoxWarning, QStringLiteral("warn") },
    };
    const auto own = kOwn.find(which);
    return own == kOwn.end() ? QProxyStyle::standardIcon(which, option, widget) : icon(own->second);
}

QRect ThemeStyle::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const
{
    const QRect rect = QProxyStyle::subElementRect(element, option, widget);
    const auto* frame = element == SE_LineEditContents ? qstyleoption_cast<const QStyleOptionFrame*>(option) : nullptr;
    return frame != nullptr && frame->lineWidth > 0 ? rect.adjusted(4, 0, -4, 0) : rect;
}

QRect ThemeStyle::subControlRect(
    ComplexControl control, const QStyleOptionComplex* option, SubControl sub, const QWidget* widget) const
{
    if (control == CC_ComboBox && sub == SC_ComboBoxEditField)
        return visualRect(option->direction, option->rect, option->rect.adjusted(10, 1, -24, -1));
    return QProxyStyle::subControlRect(control, option, sub, widget);
}

}
