// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <telltale/config/fieldreader.h>

namespace telltale::config {

/// One row of the table that reading, writing, the schema and its documentation are made from. The default is what a
/// default-constructed MonitorConfig holds. Thread: any (constant).
struct Field {
    /// What a field is about, in the order in which people are shown them.
    enum class Group { When, Where, What, Layers, Communication, Alerts, Files };

    std::string_view object; ///< the object that it stands in, "" = the document itself
    std::string_view name;
    std::string_view description;
    Group group;
    bool isLocal; ///< only the training's own file may change it: it reaches files, code, the end of the training or
                  ///< what monitoring may take of it
    void (*read)(FieldReader&, const std::string& pointer, const Json&, MonitorConfig&);
    Json (*write)(const MonitorConfig&);
    Json (*schema)();

    std::string pointer() const; ///< JSON pointer of the field in the document
};

/// An object of the document and what stands in it is about.
struct FieldObject {
    std::string_view name;
    std::string_view description;
    bool isOpen; ///< what it does not know is kept, not refused
};

/// In the order of the documentation; an object's fields follow one another.
std::span<const Field> fields();
std::span<const FieldObject> fieldObjects();

}
