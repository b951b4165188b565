// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/kinds.h>

#include <utility>

namespace telltale {
namespace {

struct KindFacts {
    Kind kind;
    std::string_view word;
    const char* title;
    std::string_view field;
};

#define QT_TRANSLATE_NOOP(context, text) text
#define TELLTALE_KIND(name, number, word, title, field) KindFacts { Kind::name, word, title, field },
constexpr std::array kKinds {
    KindFacts { Kind::Unspecified, "unspecified", "", "" },
#include <telltale/core/kindtable.h>
};
#undef TELLTALE_KIND

constexpr std::pair<Kind, std::string_view> kAliases[] {
#define TELLTALE_KIND_ALIAS(name, word) { Kind::name, word },
#include <telltale/core/kindtable.h>
};

template <std::size_t count> constexpr bool isByNumber(const std::array<KindFacts, count>& rows)
{
    for (std::size_t i = 0; i < count; ++i) {
        if (static_cast<std::size_t>(rows[i].kind) != i)
            return false;
    }
    return true;
}
static_assert(isByNumber(kKinds) && kKinds.size() == static_cast<std::size_t>(kKindCount));
static_assert(
    [] {
        for (std::size_t i = 0; i < static_cast<std::size_t>(kStoredStatCount); ++i) {
            if (static_cast<std::size_t>(kStatTable[i].stat) != i)
                return false;
        }
        return true;
    }(),
    "the rows of kindtable.h stand in the order of their numbers");
static_assert(
    [] {
        for (int i = kStoredStatCount; i < static_cast<int>(kStatTable.size()); ++i) {
            const StatFacts& facts = kStatTable[static_cast<std::size_t>(i)];
            if (&factsOf(facts.stat) != &facts)
                return false;
        }
        return true;
    }(),
    "the numbers of derived statistics follow one another");

const KindFacts& factsOf(Kind kind)
{
    const auto number = static_cast<std::size_t>(kind);
    return kKinds[number < kKinds.size() ? number : 0];
}

}

std::string_view kindName(Kind kind)
{
    return factsOf(kind).word;
}

const char* kindTitle(Kind kind)
{
    return factsOf(kind).title;
}

std::string_view kindField(Kind kind)
{
    return factsOf(kind).field;
}

std::optional<Kind> kindFromName(std::string_view name)
{
    for (const KindFacts& row : kKinds) {
        if (row.word == name && row.kind != Kind::Unspecified)
            return row.kind;
    }
    for (const auto& [kind, word] : kAliases) {
        if (word == name)
            return kind;
    }
    return std::nullopt;
}

std::string identityText(std::uint64_t identity)
{
    std::string text(16, '0');
    for (std::size_t i = text.size(); i-- > 0; identity >>= 4)
        text[i] = "0123456789abcdef"[identity & 15];
    return text;
}

std::optional<Stat> statFromName(std::string_view name)
{
    for (const StatFacts& row : kStatTable) {
        if (row.word == name && row.stat != Stat::Unspecified)
            return row.stat;
    }
    return std::nullopt;
}

}
