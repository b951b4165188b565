// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/alerts/webhookwords.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>

namespace telltale::alerts {
namespace {

using HookJson = nlohmann::ordered_json;

constexpr std::size_t kLongestReason = 200;
/// "Too often" of Feishu and DingTalk, and "the system is busy": it may do later.
constexpr std::array<std::int64_t, 5> kLater { -1, 9499, 11232, 130101, 410100 };

std::string replaced(std::string text, char what, std::string_view with)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, 1, with);
    return text;
}

/// Slack reads <!channel> and links out of a text where these three are not written so.
std::string forSlack(std::string text)
{
    return replaced(replaced(replaced(std::move(text), '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

/// Feishu reads <at user_id="all"> and has no other way to write the sign.
std::string forFeishu(std::string text)
{
    return replaced(std::move(text), '<', "＜");
}

std::string cut(std::string_view text)
{
    return terminalText(text.substr(0, kLongestReason));
}

}

std::string webhookBody(Shape shape, const Alert& alert, const Signature& signature)
{
    HookJson json;
    switch (shape) {
    case Shape::Generic:
        return alert.toJson();
    case Shape::Slack:
        json = { { "text", forSlack(alert.text()) } };
        break;
    case Shape::Feishu:
        if (!signature.sign.empty())
            json = { { "timestamp", signature.timestamp }, { "sign", signature.sign } };
        json["msg_type"] = "text";
        json["content"] = { { "text", forFeishu(alert.text()) } };
        break;
    case Shape::DingTalk:
        json = { { "msgtype", "text" }, { "text", { { "content", alert.text() } } } };
        break;
    }
    return json.dump(-1, ' ', false, HookJson::error_handler_t::replace);
}

WebhookAnswer judgeAnswer(Shape shape, int status, std::string_view body)
{
    const bool isOk = status >= 200 && status < 300;
    if (!isOk) {
        const bool isLater = status == 408 || status == 425 || status == 429 || status >= 500;
        std::string sentence = fmt::format("it answered {}", status);
        if (status >= 300 && status < 400)
            sentence += ", that it has moved; give the new address";
        else if (!isLater && !body.empty())
            sentence += ": " + cut(body);
        return { isLater ? Verdict::Again : Verdict::Refused, std::move(sentence) };
    }
    if (shape != Shape::Feishu && shape != Shape::DingTalk)
        return { Verdict::Delivered, fmt::format("it answered {}", status) };
    const HookJson json = HookJson::parse(body, nullptr, false);
    for (const char* name : { "errcode", "code", "StatusCode" }) {
        if (!json.is_object() || !json.contains(name) || !json[name].is_number_integer())
            continue;
        const auto code = json[name].get<std::int64_t>();
        if (code == 0)
            return { Verdict::Delivered, fmt::format("it answered {}", status) };
        std::string why;
        for (const char* field : { "errmsg", "msg", "StatusMessage" }) {
            if (why.empty() && json.contains(field) && json[field].is_string())
                why = cut(json[field].get<std::string>());
        }
        const bool isLater = std::find(kLater.begin(), kLater.end(), code) != kLater.end();
        return { isLater ? Verdict::Again : Verdict::Refused,
            fmt::format("it refused with {} {}", code, why.empty() ? std::string("and no reason") : "(" + why + ")") };
    }
    return { Verdict::Refused, "it answered 200, but not as this service does; check the address and the template" };
}

}
