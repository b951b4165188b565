// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace telltale::store {

/// Which run: what it is opened, written, verified, renamed and deleted by. Of a capsule it is the file's path; a run
/// in another store (store::RunStore) has that one's "NAME://" in front. Two are the same run when they are equal.
/// Thread: any (a value).
class RunLocator {
public:
    RunLocator() = default; ///< of no run
    /// What text() gave, maybe in another process.
    static RunLocator fromText(std::string text) { return RunLocator(std::move(text)); }
    /// Of the run in a capsule's file.
    static RunLocator ofFile(std::string path) { return RunLocator(std::move(path)); }

    const std::string& text() const { return m_text; }
    bool isEmpty() const { return m_text.empty(); }
    auto operator<=>(const RunLocator&) const = default;

private:
    explicit RunLocator(std::string text)
        : m_text(std::move(text))
    {
    }

    std::string m_text;
};

}
