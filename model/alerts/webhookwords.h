// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/alerts/alert.h>
#include <telltale/alerts/alertsettings.h>
#include <telltale/alerts/deliveryqueue.h>

namespace telltale::alerts {

/// What proves to Feishu that a message is from who has the secret; empty = nothing does.
struct Signature {
    std::string timestamp; ///< seconds
    std::string sign;
};

/// What is posted: a generic document, or what Slack, Feishu or DingTalk want. Nothing that a run says calls everybody
/// in a channel. Thread: any.
std::string webhookBody(Shape shape, const Alert& alert, const Signature& signature = {});

/// What an answer means.
struct WebhookAnswer {
    Verdict verdict = Verdict::Refused;
    std::string sentence; ///< "it answered 500"
};
/// Feishu and DingTalk say 200 also where they refuse: the body has the reason. Thread: any.
WebhookAnswer judgeAnswer(Shape shape, int status, std::string_view body);

}
