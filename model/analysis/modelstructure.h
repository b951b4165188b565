// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/expected.h>
#include <telltale/core/kinds.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// A module or a parameter of a model. Thread: any (a value).
struct StructureItem {
    std::string name; ///< as series have it; "" is the model itself
    std::string type; ///< of a module
    bool isParameter = false;
    std::vector<std::int64_t> shape; ///< of a parameter
    std::string dtype; ///< of a module: of all its parameters, "bfloat16, float32"
    std::string device; ///< as dtype
    bool isTrainable = false; ///< of a module: some parameter of it is
    std::string shared; ///< of a parameter that stood before: its first name; it counts there
    std::uint64_t elements = 0; ///< of a module: with all that is below
    std::uint64_t trainable = 0; ///< of them
    int parent = -1;
    std::vector<int> children; ///< parameters, then modules, in the model's order

    /// What it is called among its siblings.
    std::string segment(const StructureItem& above) const;
};

/// A model as an outline: 0 is the model itself, a parent comes before its children. Thread: any (a value).
class ModelStructure {
public:
    /// Takes the "structure" document of an agent; empty where it is none.
    static ModelStructure of(std::string_view json);
    const std::vector<StructureItem>& items() const { return m_items; }
    const StructureItem& item(int index) const { return m_items[static_cast<std::size_t>(index)]; }
    bool isEmpty() const { return m_items.empty(); }

private:
    std::vector<StructureItem> m_items;
};

/// Something that a config could collect of a module and does not, or not of it. Thread: any (a value).
struct ConfigAddition {
    std::string pointer; ///< of the field, as "/xy_distribution"
    std::string value; ///< JSON; of "/targets" what comes to those that are there
};
/// What could be added so that more is collected of a module: itself, where the config has targets and none is of it,
/// and the quantities that are off. Cheap quantities alone; a module without parameters gets none of those.
std::vector<ConfigAddition> additionsFor(const config::MonitorConfig& config, const StructureItem& item);

/// The kinds of series that a run has of each name, without scalars.
std::map<std::string, std::vector<Kind>> collectedKinds(const store::Catalog& catalog);

/// What the outline of a run is made of. Thread: any (a value).
struct StructureFacts {
    ModelStructure model;
    config::MonitorConfig config; ///< in force last
    std::map<std::string, std::vector<Kind>> collected;
};
/// A run without a structure has an empty one. Thread: query.
Expected<StructureFacts> readStructure(store::RunReader& reader);

}
