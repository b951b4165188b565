// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace telltale::test {

TestMain::TestMain(std::string_view file, Function function)
{
    file.remove_prefix(file.rfind('/') + 1);
    entries().push_back({ file.substr(0, file.find('.')), function });
}

int TestMain::run(int argc, char** argv)
{
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    const auto found = std::find_if(
        entries().begin(), entries().end(), [wanted](const Entry& entry) { return entry.name == wanted; });
    if (found != entries().end())
        return found->function(argc - 1, argv + 1);
    std::fputs("say which test, and what QtTest is to do with it:\n", stderr);
    for (const Entry& entry : entries())
        std::fprintf(stderr, "  %.*s\n", static_cast<int>(entry.name.size()), entry.name.data());
    return 2;
}

std::vector<TestMain::Entry>& TestMain::entries()
{
    static std::vector<Entry> all;
    return all;
}

}

int main(int argc, char** argv)
{
    const bool wereThere = std::filesystem::exists("shots");
    const int code = telltale::test::TestMain::run(argc, argv);
    // Pictures lie beside the program (shots.h), wherever it was started.
    const auto here = std::filesystem::current_path();
    if (wereThere || !std::filesystem::exists("shots") || here == std::filesystem::canonical(argv[0]).parent_path())
        return code;
    std::fprintf(stderr, "the test left shots/ in %s\n", here.c_str());
    return 1;
}
