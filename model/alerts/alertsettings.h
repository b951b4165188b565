// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/logrecord.h>

namespace telltale::alerts {

/// What a webhook's body looks like.
enum class Shape : std::uint8_t { Generic, Slack, Feishu, DingTalk };
inline constexpr std::array<Shape, 4> kShapes { Shape::Generic, Shape::Slack, Shape::Feishu, Shape::DingTalk };
std::string_view shapeWord(Shape shape); ///< "dingtalk"
std::optional<Shape> shapeFromWord(std::string_view word);

/// An address that every incident is posted to.
struct Webhook {
    std::string name = {}; ///< how the log speaks of it
    bool isOn = true;
    std::string url = {}; ///< who has it can write there: never shown whole, see shownUrl()
    Shape shape = Shape::Generic;
    std::string secret = {}; ///< that Feishu and DingTalk want messages signed with; "" = none
    int timeoutS = 10;
    int perMinute = 20; ///< as much as the strictest of these services takes

    bool operator==(const Webhook&) const = default;
};

/// A program that is started for every incident.
struct Command {
    std::string name = {};
    bool isOn = true;
    std::vector<std::string> argv = {}; ///< no shell reads it
    int timeoutS = 30;

    bool operator==(const Command&) const = default;
};

/// Who is told of incidents: the document `alerts.json` of a data directory. Thread: any (a value).
struct AlertSettings {
    static constexpr std::size_t kMostChannels = 16;
    static constexpr int kLongestSettleS = 600;
    static constexpr int kLongestQuietS = 86'400;
    static constexpr int kLongestTimeoutS = 600;
    static constexpr int kMostPerMinute = 600;

    store::Severity least = store::Severity::Warning;
    /// An incident is told so long after it was found: who comes late may show that it began elsewhere.
    int settleS = 2;
    bool isDesktopOn = true;
    int desktopQuietS = 60; ///< after a notification; what comes meanwhile is one more at its end
    bool isConsoleOn = false; ///< a line in the training job
    std::vector<Webhook> webhooks;
    std::vector<Command> commands;

    /// BadInput says every problem. What is not named keeps its standard.
    static Expected<AlertSettings> fromJson(const std::string& text);
    std::string toJson() const; ///< with everything that is secret
    /// The same with what is secret left out: for people, logs and files that go elsewhere.
    std::string toShownJson() const;
    static std::string schema(); ///< of the document, as JSON Schema

    bool operator==(const AlertSettings&) const = default;
};

/// The host alone: "https://hooks.slack.com/…".
std::string shownUrl(std::string_view url);
/// Why nothing can be posted there; "" = it can.
std::string problemOfUrl(std::string_view url);

}
