// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>

namespace telltale::exchange {

/// A file that is written from its beginning to its end, and is gone again, with the folders made for it, unless keep()
/// is called. It replaces nothing. Thread: one.
class OutputFile {
public:
    /// Makes it, and the folders above it.
    static Expected<OutputFile> create(const std::string& path);

    OutputFile(OutputFile&&) = default;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    const std::string& path() const { return m_path; }
    Expected<void> append(std::string_view bytes);
    Expected<void> rewrite(std::string_view head); ///< its first bytes; what is appended goes on behind the last
    Expected<void> flush(); ///< readers see what was appended
    Expected<void> keep(); ///< it stays, as long as it is

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    OutputFile(std::string path, std::FILE* file, std::vector<std::filesystem::path> made)
        : m_path(std::move(path))
        , m_file(file)
        , m_made(std::move(made))
    {
    }
    std::string m_path;
    std::unique_ptr<std::FILE, Close> m_file;
    std::vector<std::filesystem::path> m_made; ///< folders, the innermost first
    bool m_isKept = false;
};

}
