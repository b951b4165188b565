// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <QByteArray>
#include <QImage>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <telltale/core/expected.h>
#include <telltale/store/querypool.h>

class QComboBox;
class QIODevice;
class QPainter;

namespace telltale::items {
class RunsModel;
}

namespace telltale::views {

class ViewState;
class SharedAxis;
class SteeringState;
class Annotator;

/// Property of a splitter that the user has moved: its view no longer fits it, and a presentation has it as it is.
inline constexpr const char* kIsDividerChosen = "isDividerChosen";

/// What every data view gets from its maker. Plain pointers, owned by the caller, outlive the view.
struct ViewContext {
    ViewState* state = nullptr;
    SharedAxis* axis = nullptr;
    store::QueryPool* queries = nullptr;
    SteeringState* steering = nullptr; ///< null where nothing is recorded
    Annotator* annotator = nullptr; ///< null where nothing is written
    items::RunsModel* runs = nullptr; ///< of the data directory; null where there is none
    std::string dataDir = {};
    /// A run of that list by its id, live ones with what is still being recorded; null where there is no list.
    std::function<store::RunRef(const QString& id)> findRun = {};
};

/// An item of a box of DataView::keepChoices(), which is kept by its name: what stands before it or how it is shown may
/// change.
void addChoice(QComboBox* box, const QString& shown, const QString& name, int value);
/// One whose name is its text as it stands in the source: QT_TR_NOOP("..."), shown as the tr() of `context` has it.
void addChoice(QComboBox* box, const QMetaObject& context, const char* text, int value);
template <typename Enum> void addChoice(QComboBox* box, const QMetaObject& context, const char* text, Enum value)
{
    addChoice(box, context, text, static_cast<int>(value));
}

/// A view of run data: asks the query pool in O(pixels), paints the last answer, exports what it shows. It asks only
/// while it is visible (without a screen: show() with Qt::WA_DontShowOnScreen). No I/O here: all reading happens in the
/// pool.
class DataView : public QWidget {
    Q_OBJECT
public:
    explicit DataView(const ViewContext& context, QWidget* parent = nullptr);
    ~DataView() override; ///< cancels its queries

    /// True when nothing is being asked and the last answer is shown (headless rendering waits for this).
    virtual bool isSettled() const;
    /// The view at a given size, as shown (cursor and selection included).
    QImage renderImage(QSize size);
    /// px that a picture of that width is high where nobody says: more than the view's where that would cut what it
    /// says, since nothing is scrolled there.
    virtual int pictureHeight(int /*width*/) { return height(); }
    /// The same as an SVG document, whose text is text.
    QByteArray renderSvg(QSize size);
    /// What both are made of, on a ground that is painted already: the widgets, unless a view knows better.
    virtual void paintPicture(QPainter& painter, QSize size);
    /// What of the run is shown, in the words of the view's bar: kind and statistic. Pictures and presentations say it.
    virtual QStringList shownWords() const { return {}; }
    /// RFC 4180 CSV of what is shown: full precision, NaN/Inf as words.
    virtual Expected<void> writeCsv(QIODevice* device) const = 0;

    /// Why the last question had no answer; empty when it had one.
    QString trouble() const { return m_trouble; }
    /// What a view says of a run that has nothing: one that is recorded may have it soon, one that is over never will.
    QString beforeFirstStep() const;

    /// What is chosen in the view and not in the state that views share, as "box=name", in the order to choose it in.
    QStringList choices() const;
    /// Chooses that as if by hand; what the view has no such box or name for stays as it is.
    virtual void setChoices(const QStringList& choices);

Q_SIGNALS:
    void settled();

protected:
    enum class Urgency {
        WhenIdle, ///< new data: wait for the running question, so that a fast run cannot starve a slow answer
        Now, ///< the user changed what is asked: the running question is of no use
    };
    /// Asks at the next turn of the event loop, or when the view becomes visible.
    void askSoon(Urgency urgency);
    /// Hands one question to submit(). Called only while visible.
    virtual void ask() = 0;
    void submit(store::QueryPool::Work work);
    /// Asks `read(reader, cancel)` for an Expected picture on a query's thread. The picture goes to `taken` as a shared
    /// one; without it the reason is remembered, and the last answer stays: an old picture with a reason says more than
    /// none. Either way troubleChanged() comes first.
    template <typename Read, typename Taken> void submitRead(Read read, Taken taken);
    virtual void troubleChanged() { }
    /// Boxes that choices() is made of; they outlive every call of it. Their items are those of addChoice(), or have
    /// data that means the same in every version: a rank, a weight, the name of a layer.
    void keepChoices(std::vector<QComboBox*> boxes);
    void showEvent(QShowEvent* event) override;
    const ViewContext& context() const { return m_context; }

private:
    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    QTimer m_askTimer;
    QString m_trouble;
    std::vector<QComboBox*> m_boxes; ///< of the view's own choices
    bool m_asking = false;
    bool m_stale = true; ///< something changed since the last question
};

template <typename Read, typename Taken> void DataView::submitRead(Read read, Taken taken)
{
    submit([this, read = std::move(read), taken = std::move(taken)](
               Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
        auto picture = reader ? read(**reader, cancel) : tl::unexpected(reader.error());
        if (!picture) {
            return [this, why = QString::fromStdString(picture.error().sentence())] {
                m_trouble = why;
                troubleChanged();
            };
        }
        using Picture = std::decay_t<decltype(*picture)>;
        return [this, taken, shared = std::make_shared<const Picture>(std::move(*picture))] {
            m_trouble.clear();
            troubleChanged();
            taken(shared);
        };
    });
}

}
