// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/store/runreader.h>

namespace telltale::views {

/// What an agent recorded once of one module: stack_info and print_struct of its config.
struct ModuleRecords {
    std::string stack; ///< where it is called from; empty when not recorded
    std::string passed; ///< a line each of what it was given and gave, and of the gradients; empty when not recorded
    bool isStackThere = false; ///< the run has stacks, of whichever modules
    bool isPassedThere = false;
};

/// `name` as series have it. A parameter has the records of the module that holds it. Thread: query. Cost: one or two
/// documents of the size of the model's structure.
ModuleRecords readModuleRecords(store::RunReader& reader, const std::string& name, bool isParameter);

}
