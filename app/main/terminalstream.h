// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace telltale::app {

/// While it lives, everything written to a stream passes through terminalText() but for line ends and tabs: no name out
/// of a foreign run can reach the terminal raw, whichever verb forgot it. Thread: whoever writes the stream.
class TerminalStream : private std::streambuf {
public:
    explicit TerminalStream(std::ostream& stream);
    ~TerminalStream() override;
    TerminalStream(const TerminalStream&) = delete;
    TerminalStream& operator=(const TerminalStream&) = delete;

private:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

    bool pass(bool isEnd);

    std::ostream& m_stream;
    std::streambuf* m_target;
    std::string m_pending; ///< at most the beginning of one character between calls
};

}
