// SPDX-License-Identifier: GPL-3.0-or-later
#include "rulesdraft.h"

#include <QLocale>

#include <nlohmann/json.hpp>

#include <telltale/config/textedit.h>
#include <telltale/items/guithread.h>

namespace telltale::views {

RulesDraft::RulesDraft(QObject* parent)
    : QObject(parent)
    , m_text(QString::fromStdString(judge::Rules().toJson()))
{
}

void RulesDraft::setInForce(const judge::Rules& rules)
{
    items::assertGuiThread();
    const bool isUntouched = !isChanged() && m_problems.empty();
    m_inForce = rules;
    if (isUntouched)
        revert();
    else
        Q_EMIT changed();
}

void RulesDraft::setText(const QString& text)
{
    items::assertGuiThread();
    if (text == m_text)
        return;
    m_text = text;
    m_problems.clear();
    const judge::Rules rules = judge::Rules::fromJson(text.toStdString(), m_problems);
    if (m_problems.empty())
        m_rules = rules;
    Q_EMIT changed();
}

void RulesDraft::setOn(judge::Rule rule, bool on)
{
    judge::Rules whole = m_rules;
    whole.setOn(rule, on);
    replace("/rules/" + std::string(judge::idOf(rule)) + "/on", on ? "true" : "false", whole);
}

void RulesDraft::setValue(judge::Rule rule, std::size_t parameter, double value)
{
    judge::Rules whole = m_rules;
    whole.setValue(rule, parameter, value);
    const judge::RuleInfo& info = judge::infoOf(rule);
    replace("/rules/" + std::string(info.id) + '/' + std::string(info.parameters[parameter].name),
        numberText(value).toStdString(), whole);
}

void RulesDraft::setEscalation(judge::Rule rule, const QString& config, std::int64_t steps, std::int64_t times)
{
    using Json = nlohmann::ordered_json;
    const std::string text = config.trimmed().toStdString();
    judge::Rules whole = m_rules;
    whole.setEscalation(rule, text.empty() ? judge::Escalation() : judge::Escalation { text, steps, times });
    if (text.empty() && m_problems.empty())
        return setText(QString::fromStdString(whole.toJson()));
    Json wanted = nullptr;
    if (!text.empty()) {
        Json typed = Json::parse(text, nullptr, false);
        // What is no JSON must not make the whole document none.
        wanted = { { "config", typed.is_discarded() ? Json(text) : std::move(typed) }, { "steps", steps } };
        if (times > 0)
            wanted["times"] = times;
    }
    replace("/rules/" + std::string(judge::idOf(rule)) + "/escalate",
        wanted.dump(-1, ' ', false, Json::error_handler_t::replace), whole);
}

void RulesDraft::replace(const std::string& pointer, const std::string& json, const judge::Rules& whole)
{
    std::string text = m_text.toStdString();
    // What a document leaves out, it gets as a whole one.
    if (const auto place = config::findValue(text, pointer))
        setText(QString::fromStdString(text.replace(place->begin, place->end - place->begin, json)));
    else
        setText(QString::fromStdString(whole.toJson()));
}

void RulesDraft::revert()
{
    m_text.clear();
    setText(QString::fromStdString(m_inForce.toJson()));
}

QString RulesDraft::numberText(double value)
{
    return QLocale::c().toString(value, 'g', QLocale::FloatingPointShortest);
}

}
