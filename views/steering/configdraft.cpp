// SPDX-License-Identifier: GPL-3.0-or-later
#include "configdraft.h"

#include <algorithm>
#include <utility>

#include <QJsonDocument>

#include <telltale/config/field.h>
#include <telltale/config/relaxedjson.h>
#include <telltale/config/textedit.h>
#include <telltale/items/guithread.h>

namespace telltale::views {
namespace {

std::string valueIn(const QString& json, const std::string& pointer)
{
    const std::string text = json.toStdString();
    const auto place = config::findValue(text, pointer);
    return place ? text.substr(place->begin, place->end - place->begin) : std::string();
}

}

ConfigDraft::ConfigDraft(QObject* parent)
    : QObject(parent)
    , m_text(QStringLiteral("{\n}\n"))
    , m_runningText(m_text)
{
    m_running = config::parseMonitorConfig(m_text.toStdString())->config;
    read();
}

void ConfigDraft::setRunning(const config::MonitorConfig& running, const QString& text)
{
    items::assertGuiThread();
    const bool isTouched = !isUnchanged();
    const bool isOwnText = m_text != m_runningText; // comments, a layout
    m_running = running;
    m_runningText = text;
    if (!isTouched)
        m_text = isOwnText ? QString::fromStdString(config::editedConfigText(m_text.toStdString(), running)) : text;
    read();
}

bool ConfigDraft::isLaidOut(const std::string& text)
{
    constexpr std::size_t kMostLine = 160; // letters that a person writes
    const std::size_t last = text.find_last_of('}');
    if (text.find('\n') >= last)
        return false;
    std::size_t longest = 0;
    for (std::size_t from = 0, end = 0; end < last; from = end + 1) {
        end = std::min(text.find('\n', from), last);
        longest = std::max(longest, end - from);
    }
    return longest <= kMostLine || QJsonDocument::fromJson(QByteArray::fromStdString(text)).isNull();
}

void ConfigDraft::setRun(config::RunFacts facts)
{
    m_facts = std::move(facts);
    Q_EMIT runChanged();
    read();
}

void ConfigDraft::setText(const QString& text)
{
    items::assertGuiThread();
    if (text == m_text)
        return;
    m_text = text;
    read();
}

void ConfigDraft::setValue(const QString& pointer, const QString& json)
{
    if (m_isConfig)
        setText(QString::fromStdString(
            config::withMember(m_text.toStdString(), pointer.toStdString(), json.toStdString())));
}

void ConfigDraft::undo(const QString& pointer)
{
    if (const auto* change = changeOf(pointer))
        setValue(pointer, QString::fromStdString(change->before));
}

void ConfigDraft::revert()
{
    setText(m_runningText);
}

void ConfigDraft::setConfig(const config::MonitorConfig& wanted)
{
    setText(QString::fromStdString(config::editedConfigText(m_text.toStdString(), wanted)));
}

int ConfigDraft::errors() const
{
    return static_cast<int>(std::count_if(
        m_problems.begin(), m_problems.end(), [](const config::Problem& problem) { return problem.isError; }));
}

const config::FieldChange* ConfigDraft::changeOf(const QString& pointer) const
{
    const std::string wanted = pointer.toStdString();
    const auto found = std::find_if(m_changes.begin(), m_changes.end(),
        [&](const config::FieldChange& change) { return change.pointer == wanted; });
    return found == m_changes.end() ? nullptr : &*found;
}

void ConfigDraft::findInvalid()
{
    m_invalid.clear();
    for (const config::Field& field : config::fields()) {
        const std::string pointer = field.pointer();
        const bool isInvalid = std::any_of(m_problems.begin(), m_problems.end(), [&](const config::Problem& problem) {
            return problem.isError && (problem.pointer + '/').starts_with(pointer + '/');
        });
        if (const std::string written = isInvalid ? valueIn(m_text, pointer) : std::string(); !written.empty())
            m_invalid[pointer] = written;
    }
}

/// What is not valid is read as a default that may be what runs, yet somebody wrote it.
void ConfigDraft::addInvalid()
{
    for (const config::Field& field : config::fields()) {
        const auto written = m_invalid.find(field.pointer());
        if (written != m_invalid.end() && changeOf(QString::fromStdString(written->first)) == nullptr
            && written->second != valueIn(m_runningText, written->first))
            m_changes.push_back({ written->first, field.write(m_running).dump(), written->second });
    }
}

config::Json ConfigDraft::valueOf(const config::Field& field) const
{
    const auto written = m_invalid.find(field.pointer());
    return written == m_invalid.end() ? field.write(m_config)
                                      : config::Json::parse(config::plainJson(written->second), nullptr, false);
}

void ConfigDraft::read()
{
    auto parsed = config::parseMonitorConfig(m_text.toStdString());
    m_isConfig = parsed.has_value();
    if (parsed) {
        m_config = std::move(parsed->config);
        m_problems = parsed->problems;
        for (const config::Problem& problem : config::problemsInRun(m_config, m_facts)) {
            // Of what could not be read, nothing is known to be wrong in the run.
            const bool isRead = std::none_of(parsed->problems.begin(), parsed->problems.end(), [&](const auto& unread) {
                return unread.isError && (problem.pointer + '/').starts_with(unread.pointer + '/');
            });
            if (isRead)
                m_problems.push_back(problem);
        }
    } else {
        m_problems = { { {}, parsed.error().sentence() } };
    }
    for (const std::string& pointer : config::localChanges(m_running, m_config))
        m_problems.push_back({ pointer,
            tr("%1 is left to the training: its own config file alone changes it")
                .arg(QString::fromStdString(pointer))
                .toStdString() });
    m_changes = config::configChanges(m_running, m_config);
    if (m_isConfig)
        findInvalid();
    addInvalid();
    Q_EMIT changed();
}

}
