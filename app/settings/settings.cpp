// SPDX-License-Identifier: GPL-3.0-or-later
#include "settings.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace telltale::settings {

namespace {

template <typename Value, typename Visitor> void visitLayout(Value& layout, Visitor&& visit)
{
    visit("name", layout.name);
    visit("view", layout.view);
    visit("docks", layout.docks);
    visit("split", layout.split);
}

// One list of fields for both directions, so that they cannot drift apart.
template <typename Value, typename Visitor> void visitFields(Value& settings, Visitor&& visit)
{
    visit("theme", settings.theme);
    visit("language", settings.language);
    visit("animations", settings.animations);
    visit("geometry", settings.geometry);
    visit("docks", settings.docks);
    visit("active_tab", settings.activeTab);
    visit("heatmap_split", settings.heatmapSplit);
    visit("run_path", settings.runPath);
    visit("kind", settings.kind);
    visit("stat", settings.stat);
    visit("rank", settings.rank);
    visit("selection", settings.selection);
    visit("module_filter", settings.moduleFilter);
    visit("cursor", settings.cursor);
    visit("compared_runs", settings.comparedRuns);
    visit("view_choices", settings.viewChoices);
    visit("runs_grouped_by", settings.runsGroupedBy);
    visit("closed_headings", settings.closedHeadings);
    visit("recent_files", settings.recentFiles);
    visit("export_folder", settings.exportFolder);
    visit("layouts", settings.layouts);
}

struct Writer {
    QJsonObject& object;

    void operator()(const char* name, const QString& v) const { object[QLatin1String(name)] = v; }
    void operator()(const char* name, bool v) const { object[QLatin1String(name)] = v; }
    void operator()(const char* name, int v) const { object[QLatin1String(name)] = v; }
    void operator()(const char* name, const QByteArray& v) const
    {
        object[QLatin1String(name)] = QString::fromLatin1(v.toBase64());
    }
    void operator()(const char* name, const QStringList& v) const
    {
        object[QLatin1String(name)] = QJsonArray::fromStringList(v);
    }
    void operator()(const char* name, const std::vector<SavedLayout>& v) const
    {
        QJsonArray list;
        for (const SavedLayout& layout : v) {
            QJsonObject entry;
            visitLayout(layout, Writer { entry });
            list.append(entry);
        }
        object[QLatin1String(name)] = list;
    }
};

struct Reader {
    const QJsonObject& object;

    QJsonValue at(const char* name) const { return object.value(QLatin1String(name)); }
    void operator()(const char* name, QString& v) const { v = at(name).toString(v); }
    void operator()(const char* name, bool& v) const { v = at(name).toBool(v); }
    void operator()(const char* name, int& v) const { v = at(name).toInt(v); }
    void operator()(const char* name, QByteArray& v) const
    {
        v = QByteArray::fromBase64(at(name).toString().toLatin1());
    }
    void operator()(const char* name, QStringList& v) const
    {
        for (const auto& entry : at(name).toArray()) {
            if (entry.isString())
                v.append(entry.toString());
        }
    }
    void operator()(const char* name, std::vector<SavedLayout>& v) const
    {
        for (const auto& entry : at(name).toArray()) {
            SavedLayout layout;
            const QJsonObject written = entry.toObject();
            visitLayout(layout, Reader { written });
            if (!layout.name.isEmpty())
                v.push_back(std::move(layout));
        }
    }
};

}

QByteArray toJson(const Settings& settings)
{
    QJsonObject object;
    object[QStringLiteral("version")] = Settings::kVersion;
    visitFields(settings, Writer { object });
    return QJsonDocument(object).toJson(QJsonDocument::Indented);
}

ParsedSettings fromJson(const QByteArray& json)
{
    ParsedSettings result;
    const QJsonDocument document = QJsonDocument::fromJson(json);
    const QJsonObject object = document.object();
    result.version = object.value(QStringLiteral("version")).toInt(0);
    if (!document.isObject() || result.version < 1) {
        result.state = DocumentState::Damaged;
        return result;
    }
    if (result.version > Settings::kVersion)
        result.state = DocumentState::Newer;
    visitFields(result.settings, Reader { object });
    return result;
}

}
