// SPDX-License-Identifier: GPL-3.0-or-later
#include "configreference.h"

#include <QCoreApplication>

#include <telltale/config/field.h>

#include "fieldtext.h"

namespace telltale::views {
namespace {

using config::Json;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::ConfigReference)
};

QString code(const Json& value)
{
    return QLatin1Char('`') + QString::fromStdString(value.dump()) + QLatin1Char('`');
}

QString choices(const Json& values)
{
    QStringList all;
    for (const Json& value : values)
        all.append(code(value));
    return Words::tr("one of %1").arg(all.join(QStringLiteral(", ")));
}

QString numbers(const Json& schema, const QString& what)
{
    if (schema.contains("minimum") && schema.contains("maximum"))
        return Words::tr("%1 from %2 to %3", "a number from 0 to 1")
            .arg(what, QString::fromStdString(schema["minimum"].dump()),
                QString::fromStdString(schema["maximum"].dump()));
    return what;
}

/// What a value may be, as the schema has it.
QString valuesOf(const Json& schema)
{
    if (schema.contains("anyOf")) {
        QStringList all;
        for (const Json& one : schema["anyOf"]) {
            if (one.value("maxItems", -1) != 0)
                all.append(valuesOf(one));
        }
        return all.join(Words::tr(", or ", "between what a value may be"));
    }
    if (schema.contains("enum"))
        return choices(schema["enum"]);
    const Json type = schema.value("type", Json());
    if (type.is_array()) {
        Json one = schema;
        one["type"] = type.front();
        return valuesOf(one) + Words::tr(", or null");
    }
    if (type == "boolean")
        return Words::tr("true or false");
    if (type == "integer")
        return numbers(schema, Words::tr("a whole number"));
    if (type == "number")
        return numbers(schema, Words::tr("a number"));
    if (type == "array")
        return Words::tr("a list, each %1").arg(valuesOf(schema.value("items", Json::object())));
    if (type == "object")
        return Words::tr("an object");
    return Words::tr("a text");
}

}

QStringList fieldGroupTitles()
{
    return { Words::tr("When"), Words::tr("Where"), Words::tr("What"), Words::tr("Deeper analyses"),
        Words::tr("Communication"), Words::tr("Alerts"), Words::tr("Files") };
}

QString configReference()
{
    QString page = QStringLiteral("# config.json\n\n")
        + Words::tr(
            "What a training collects. Every field may be left out. Comments (`//`) and trailing commas are accepted. "
            "What cannot be read is said with its place and what is allowed there; at the start of a training the "
            "field's default takes its place, later the config in force stays.")
        + QLatin1Char('\n');
    for (const config::FieldObject& object : config::fieldObjects())
        page += QStringLiteral("\n`%1`: %2\n").arg(fieldText(object.name), fieldSentence(object.description));
    const config::MonitorConfig defaults;
    const QStringList titles = fieldGroupTitles();
    for (int number = 0; number < titles.size(); ++number) {
        page += QStringLiteral("\n## %1\n").arg(titles[number]);
        for (const config::Field& field : config::fields()) {
            if (static_cast<int>(field.group) != number)
                continue;
            const QString object = field.object.empty() ? QString() : fieldText(field.object) + QLatin1Char('.');
            page += QStringLiteral("\n### %1\n\n").arg(object + fieldText(field.name));
            page += Words::tr("%1; default %2.", "what a field may hold; its default")
                        .arg(valuesOf(field.schema()), code(field.write(defaults)))
                + QStringLiteral("\n\n") + fieldSentence(field.description) + QLatin1Char('\n');
            if (field.isLocal)
                page
                    += QLatin1Char('\n') + Words::tr("Only the training's own file can change it.") + QLatin1Char('\n');
        }
    }
    return page;
}

}
