// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/textedit.h>

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/config/relaxedjson.h>

namespace telltale::config {
namespace {

using Json = nlohmann::ordered_json;

/// The reference tokens of a pointer, unescaped as RFC 6901 says.
std::vector<std::string> tokensOf(std::string_view pointer)
{
    std::vector<std::string> tokens;
    bool isEscaped = false;
    for (const char c : pointer) {
        if (c == '/')
            tokens.emplace_back();
        else if (!tokens.empty() && (isEscaped || c != '~'))
            tokens.back().push_back(!isEscaped ? c : c == '1' ? '/' : '~');
        isEscaped = !isEscaped && c == '~';
    }
    return tokens;
}

/// Goes over plain JSON that is known to be whole, value by value; never past its end whatever it holds.
class Scanner {
public:
    Scanner(std::string_view plain, std::size_t at)
        : m_text(plain)
        , m_at(at)
    {
        skipBlanks();
    }

    /// The value that begins here, with everything in it.
    TextSpan skipValue()
    {
        const std::size_t begin = m_at;
        if (is('{') || is('[')) {
            int depth = 0;
            do {
                depth += is('{') || is('[') ? 1 : is('}') || is(']') ? -1 : 0;
                is('"') ? skipText() : step();
            } while (depth > 0 && m_at < m_text.size());
        } else if (is('"')) {
            skipText();
        } else {
            while (m_at < m_text.size() && m_text.find_first_of(",]} \t\r\n", m_at) != m_at)
                step();
        }
        return { begin, m_at };
    }

    /// The member or element that the token names, in the object or list that begins here.
    std::optional<TextSpan> find(const std::string& token)
    {
        std::optional<TextSpan> found;
        const bool isObject = is('{');
        if (!isObject && !is('['))
            return found;
        step();
        for (std::size_t number = 0;; ++number) {
            skipBlanks();
            if (m_at >= m_text.size() || is('}') || is(']'))
                return found;
            std::string name = std::to_string(number);
            if (isObject) {
                const TextSpan quoted = skipValue();
                const auto key = Json::parse(m_text.substr(quoted.begin, quoted.end - quoted.begin), nullptr, false);
                name = key.is_string() ? key.get<std::string>() : std::string();
                skipBlanks();
                step(); // the colon
                skipBlanks();
            }
            const TextSpan value = skipValue();
            if (name == token)
                found = value;
            skipBlanks();
            if (is(','))
                step();
        }
    }

private:
    bool is(char c) const { return m_at < m_text.size() && m_text[m_at] == c; }
    void step() { m_at = std::min(m_at + 1, m_text.size()); }
    void skipBlanks() { m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size()); }
    void skipText()
    {
        for (step(); m_at < m_text.size() && !is('"'); step()) {
            if (is('\\'))
                step();
        }
        step();
    }

    const std::string_view m_text;
    std::size_t m_at;
};

std::optional<TextSpan> findIn(std::string_view plain, const std::vector<std::string>& tokens)
{
    std::optional<TextSpan> place = Scanner(plain, 0).skipValue();
    for (const std::string& token : tokens) {
        place = Scanner(plain, place->begin).find(token);
        if (!place)
            return {};
    }
    return place;
}

/// The blanks that begin the line of `at`.
std::string indentAt(std::string_view text, std::size_t at)
{
    const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    return std::string(text.substr(line, std::min(text.find_first_not_of(" \t", line), text.size()) - line));
}

/// Adds a member behind the last one of an object.
std::string appended(std::string_view text, std::string_view plain, TextSpan object, const std::string& member)
{
    const std::size_t close = object.end - 1;
    const std::size_t last = plain.find_last_not_of(" \t\r\n", close - 1);
    const bool isEmpty = last == object.begin;
    const bool isOneLine = text.substr(object.begin, object.end - object.begin).find('\n') == std::string_view::npos;
    // A trailing comma, which plain JSON has as a blank, serves as the separator.
    const std::size_t comma = text.find_first_not_of(" \t\r\n", last + 1);
    const bool hasComma = !isEmpty && comma < close && text[comma] == ',';
    const std::size_t at = hasComma ? comma + 1 : last + 1;
    std::string out(text.substr(0, at));
    if (!isEmpty && !hasComma)
        out += ',';
    if (isOneLine) {
        out += isEmpty ? "" : " ";
        out += member;
        return out.append(text.substr(at));
    }
    // What stands behind the last member on its line is about it.
    const std::size_t lineEnd = std::min(text.find('\n', at), close);
    out += text.substr(at, lineEnd - at);
    out += '\n' + (isEmpty ? indentAt(text, close) + "    " : indentAt(text, last)) + member;
    const std::string_view rest = text.substr(lineEnd);
    if (rest.front() != '\n')
        out += '\n' + indentAt(text, close);
    return out.append(rest);
}

}

std::optional<TextSpan> findValue(std::string_view text, std::string_view pointer)
{
    return findIn(plainJson(text), tokensOf(pointer));
}

TextSpan findPlace(std::string_view text, std::string_view pointer)
{
    const std::string plain = plainJson(text);
    auto tokens = tokensOf(pointer);
    auto place = findIn(plain, tokens);
    for (; !place && !tokens.empty(); place = findIn(plain, tokens))
        tokens.pop_back();
    return !place || tokens.empty() ? TextSpan { 0, std::min<std::size_t>(1, text.size()) } : *place;
}

std::string withMember(std::string_view text, std::string_view pointer, std::string_view json)
{
    const std::string plain = plainJson(text);
    auto tokens = tokensOf(pointer);
    if (const auto place = findIn(plain, tokens))
        return std::string(text.substr(0, place->begin)).append(json).append(text.substr(place->end));
    std::string member = Json(tokens.back()).dump() + ": ";
    member += json;
    tokens.pop_back();
    auto object = findIn(plain, tokens);
    if (!object && !tokens.empty()) {
        member = Json(tokens.back()).dump() + ": {" + member + "}";
        tokens.pop_back();
        object = findIn(plain, tokens);
    }
    if (!object || plain[object->begin] != '{')
        return std::string(text);
    return appended(text, plain, *object, member);
}

}
