// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

namespace telltale::items {

/// The row operations of a model, as syncRows needs them. All rows are of one parent; ranges are closed.
struct RowOperations {
    std::function<void(int first, int last)> remove;
    /// Inserts wanted[firstWanted ...] before row `row`.
    std::function<void(int row, int firstWanted, int count)> insert;
    std::function<void(int from, int to)> move; ///< one row; `to` is its row afterwards
};

/// Turns the rows `have` into the rows `wanted` with removals, moves and batched inserts, so that selections, expanded
/// rows and persistent indexes of the rows that stay survive a refresh. Keys are unique in each list. Thread: any.
template <typename Key>
void syncRows(std::vector<Key> have, const std::vector<Key>& wanted, const RowOperations& operations)
{
    std::unordered_map<Key, int> place;
    for (int i = 0; i < static_cast<int>(wanted.size()); ++i)
        place.emplace(wanted[static_cast<std::size_t>(i)], i);

    for (int last = static_cast<int>(have.size()) - 1; last >= 0;) {
        int first = last;
        while (first >= 0 && !place.contains(have[static_cast<std::size_t>(first)]))
            --first;
        if (first < last) {
            operations.remove(first + 1, last);
            have.erase(have.begin() + first + 1, have.begin() + last + 1);
        }
        last = first - 1;
    }

    // The rows that stay, in their new order.
    std::vector<Key> staying;
    for (const Key& key : wanted) {
        if (std::find(have.begin(), have.end(), key) != have.end())
            staying.push_back(key);
    }
    for (int i = 0; i < static_cast<int>(staying.size()); ++i) {
        const auto at = std::find(have.begin() + i, have.end(), staying[static_cast<std::size_t>(i)]);
        const int from = static_cast<int>(at - have.begin());
        if (from != i) {
            operations.move(from, i);
            std::rotate(have.begin() + i, at, at + 1);
        }
    }

    std::size_t row = 0;
    for (std::size_t i = 0; i < wanted.size();) {
        if (row < have.size() && have[row] == wanted[i]) {
            ++row;
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < wanted.size() && !(row < have.size() && have[row] == wanted[end]))
            ++end;
        const auto count = static_cast<std::ptrdiff_t>(end - i);
        operations.insert(static_cast<int>(row), static_cast<int>(i), static_cast<int>(count));
        have.insert(have.begin() + static_cast<std::ptrdiff_t>(row), wanted.begin() + static_cast<std::ptrdiff_t>(i),
            wanted.begin() + static_cast<std::ptrdiff_t>(end));
        row += static_cast<std::size_t>(count);
        i = end;
    }
}

}
