// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include <telltale/common/viewstate.h>

#include "rankspicture.h"

namespace telltale::views {

/// What a tensor is at the cursor on each of the ranks that should hold the same: the statistic and, where there is
/// room for them, checksums; one that is not as most is marked. Thread: gui.
class ReplicaRanks : public QWidget {
    Q_OBJECT
public:
    explicit ReplicaRanks(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const ReplicaPicture> picture);
    /// px of its width beside something that keeps `other`; 0 where it has no room there, or nothing to say.
    int widthIn(int room, int other) const;
    void paintTo(QPainter& painter, const QRectF& area) const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    ViewState* m_state;
    std::shared_ptr<const ReplicaPicture> m_picture;
};

}
