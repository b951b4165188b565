// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

#include <QtTest>

namespace telltale::test {

/// The tests of a program, each as the main function that QtTest makes for it. `PROGRAM NAME [ARGUMENT...]` runs the
/// one whose file is NAME.cpp, in a process of its own.
class TestMain {
public:
    using Function = int (*)(int argc, char** argv);

    /// file: its path, as __FILE__ says it.
    TestMain(std::string_view file, Function function);

    static int run(int argc, char** argv);

private:
    struct Entry {
        std::string_view name;
        Function function;
    };
    static std::vector<Entry>& entries();
};

}

/// As MAIN(TEST) where the test has a program of its own: TELLTALE_TEST(QTEST_GUILESS_MAIN, LogTest).
#define TELLTALE_TEST(MAIN, TEST)                                                                                      \
    namespace TEST##Main                                                                                               \
    {                                                                                                                  \
        MAIN(TEST)                                                                                                     \
    }                                                                                                                  \
    static const telltale::test::TestMain TEST##Entry(__FILE__, &TEST##Main::main);
