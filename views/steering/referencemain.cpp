// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>

#include <QCoreApplication>

#include <telltale/steering/configreference.h>
#include <telltale/translations/translations.h>

/// Prints the reference page of config.json in the language that the argument names.
int main(int argc, char** argv)
{
    QCoreApplication app(argc, argv);
    if (argc < 2 || !telltale::translations::install(app, QString::fromLocal8Bit(argv[1])))
        return 2;
    const QByteArray text = telltale::views::configReference().toUtf8();
    return std::fwrite(text.data(), 1, static_cast<std::size_t>(text.size()), stdout)
            == static_cast<std::size_t>(text.size())
        ? 0
        : 1;
}
