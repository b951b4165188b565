// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <telltale/core/expected.h>

class QIODevice;

namespace telltale::views {

/// Writes RFC 4180 records. Numbers keep full precision, NaN and Inf are words. A text cell that a spreadsheet would
/// run as a formula gets a leading apostrophe; control characters other than line ends are escaped as terminalText()
/// does it. Thread: its owner's.
class CsvWriter {
public:
    explicit CsvWriter(QIODevice* device);

    CsvWriter& text(const QString& cell);
    CsvWriter& number(double value);
    /// A value that was stored as a float32: the shortest digits that read back as the same float32.
    CsvWriter& number32(double value);
    CsvWriter& integer(qint64 value);
    CsvWriter& empty();
    void endRow();
    /// Flushes; the first write error, if there was one.
    Expected<void> finish();

private:
    void separate();
    void flush();

    QIODevice* m_device;
    QByteArray m_buffer;
    bool m_rowBegun = false;
    bool m_failed = false;
};

}
