// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/outputfile.h>

#include <cerrno>
#include <filesystem>

#include <telltale/core/privatefiles.h>

namespace telltale::exchange {

Expected<OutputFile> OutputFile::create(const std::string& path)
{
    std::error_code error;
    std::vector<std::filesystem::path> made;
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
        for (auto at = folder; !at.empty() && !std::filesystem::exists(at, error); at = at.parent_path())
            made.push_back(at);
        std::filesystem::create_directories(folder, error);
        if (error)
            return failure(ErrorCode::Io, "cannot make the folder " + folder.string() + " (" + error.message() + ")");
    }
    std::FILE* file = std::fopen(path.c_str(), "wbx");
    if (!file && errno == EEXIST)
        return failure(ErrorCode::BadInput, path + " is there already", "remove it, or choose another place");
    if (!file)
        return fileError("make", path);
    return OutputFile(path, file, std::move(made));
}

OutputFile::~OutputFile()
{
    if (!m_file || m_isKept)
        return;
    std::remove(m_path.c_str());
    std::error_code error; // one with other files in it stays
    for (const auto& folder : m_made)
        std::filesystem::remove(folder, error);
}

Expected<void> OutputFile::append(std::string_view bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), m_file.get()) != bytes.size())
        return fileError("write", m_path);
    return {};
}

Expected<void> OutputFile::rewrite(std::string_view head)
{
    std::rewind(m_file.get());
    auto done = append(head);
    if (done && std::fseek(m_file.get(), 0, SEEK_END) != 0)
        return fileError("write", m_path);
    return done ? flush() : done;
}

Expected<void> OutputFile::flush()
{
    if (std::fflush(m_file.get()) != 0)
        return fileError("write", m_path);
    return {};
}

Expected<void> OutputFile::keep()
{
    auto done = flush();
    m_isKept = done.has_value();
    return done;
}

}
