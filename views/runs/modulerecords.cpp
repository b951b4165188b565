// SPDX-License-Identifier: GPL-3.0-or-later
#include "modulerecords.h"

#include <cstdint>
#include <limits>
#include <optional>

#include <QJsonDocument>
#include <QJsonObject>

#include <telltale/items/moduletree.h>

namespace telltale::views {
namespace {

/// The agents send one document for all modules, {"0:blocks.0": ..., "0:": ...}: chunk and name, the root without one.
std::optional<QJsonValue> ofModule(const QJsonObject& document, const QString& name)
{
    const QString own = name == items::kWholeModel ? QString() : name;
    for (auto entry = document.begin(); entry != document.end(); ++entry) {
        const QString key = entry.key();
        if (key == own || QStringView(key).mid(key.indexOf(u':') + 1) == own)
            return entry.value();
    }
    return std::nullopt;
}

std::optional<QJsonValue> find(const std::string& json, const std::string& name, bool isParameter)
{
    const QJsonObject document = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    const QString own = QString::fromStdString(name);
    auto found = ofModule(document, own);
    if (!found && isParameter)
        found = ofModule(document, own.left(own.lastIndexOf(u'.')));
    return found;
}

/// {"config": "tuple[2]", "0": "size=..., dtype=...", "1": ...} in lines.
void addSide(QString& text, const QString& side, const QJsonObject& described)
{
    if (described.isEmpty())
        return;
    text += side + QStringLiteral(": ") + described.value(QStringLiteral("config")).toString() + u'\n';
    for (int i = 0;; ++i) {
        const auto entry = described.constFind(QString::number(i));
        if (entry == described.constEnd())
            break;
        text += QStringLiteral("  %1  %2\n").arg(i).arg(entry->toString());
    }
    if (const auto tensor = described.constFind(QStringLiteral("tensor")); tensor != described.constEnd())
        text += QStringLiteral("  ") + tensor->toString() + u'\n';
}

}

ModuleRecords readModuleRecords(store::RunReader& reader, const std::string& name, bool isParameter)
{
    const Step newest { std::numeric_limits<std::int64_t>::max() };
    ModuleRecords records;
    // A run without records is the ordinary case, not an error.
    if (const auto stacks = reader.blob("stack", "stack_info", newest)) {
        records.isStackThere = true;
        if (const auto found = find(*stacks, name, isParameter))
            records.stack = found->toString().trimmed().toStdString();
    }
    if (const auto structure = reader.blob("module_struct", "module_struct", newest)) {
        records.isPassedThere = true;
        QString text;
        if (const auto found = find(*structure, name, isParameter)) {
            const QJsonObject sides = found->toObject();
            for (const auto* side : { "input", "output", "input_grad", "output_grad" })
                addSide(text, QString::fromLatin1(side), sides.value(QLatin1String(side)).toObject());
        }
        records.passed = text.trimmed().toStdString();
    }
    return records;
}

}
