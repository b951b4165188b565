// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// The signs of gradients that a run has as documents of the kind grad_sign: which there are, and one of them whole.
/// Keeps no bit. Thread: one at a time, as its reader.
class StoredSigns {
public:
    struct Key {
        Rank rank;
        std::string name; ///< of the parameter
        Step step;

        auto operator<=>(const Key&) const = default;
    };
    /// Of one gradient, the lowest bit of a byte first; 1 = positive.
    struct Bits {
        std::vector<std::uint64_t> shape;
        std::uint64_t count = 0;
        std::vector<std::uint8_t> bytes;
    };

    /// Of damaged ones nothing is said here. Fails where the run cannot be read.
    static Expected<StoredSigns> of(store::RunReader& reader);

    bool isEmpty() const { return m_documents.empty(); }
    StepRange steps() const { return m_steps; }
    /// By rank, name and step. The documents of each in the order in which they came.
    const std::map<Key, std::vector<std::int64_t>>& documents() const { return m_documents; }
    /// Fails where they are damaged or not whole. Where a step was computed anew the last time counts.
    static Expected<Bits> read(store::RunReader& reader, const std::vector<std::int64_t>& documents);

private:
    std::map<Key, std::vector<std::int64_t>> m_documents;
    StepRange m_steps;
};

}
