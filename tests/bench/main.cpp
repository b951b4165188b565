// SPDX-License-Identifier: GPL-3.0-or-later
// telltale-bench [--out FILE] [GROUP...]: every figure that has a goal, beside its peer and its limit, in one run.
#include <cstdlib>
#include <iostream>
#include <map>

#include <QApplication>

#include "report.h"

int main(int argc, char** argv)
{
    using namespace telltale::bench;
    const std::vector<std::pair<std::string, void (*)(Report&)>> groups { { "kernel", benchKernel },
        { "handover", benchHandOver }, { "ingest", benchIngest }, { "queries", benchQueries }, { "paint", benchPaint },
        { "gui", benchGui }, { "views", benchViews }, { "frames", benchFrames }, { "steering", benchSteering },
        { "judge", benchJudge }, { "livejudge", benchLiveJudge }, { "card", benchCard }, { "recorder", benchRecorder },
        { "exchange", benchExchange } };
    std::string out;
    std::vector<std::string> wanted;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--out" && i + 1 < argc)
            out = argv[++i];
        else
            wanted.push_back(arg);
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication app(argc, argv);
    Report report;
    for (const auto& [name, run] : groups) {
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
            run(report);
    }
    if (!out.empty() && !report.write(out)) {
        std::cerr << "telltale-bench: cannot write " << out << '\n';
        return 1;
    }
    return 0;
}
