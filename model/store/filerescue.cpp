// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/filerescue.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <telltale/core/privatefiles.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/schema.h>

namespace telltale::store {
namespace {

namespace fs = std::filesystem;

// Of SQLite's file format: where numbers stand in the first page, with their highest byte first.
constexpr std::size_t kPageBytes = 8192; ///< of every capsule
constexpr std::size_t kWriteVersion = 18, kChangeCounter = 24, kPageCount = 28, kFreePages = 32, kValidFor = 92;
constexpr std::size_t kPieceBytes = std::size_t { 1 } << 20;
constexpr std::string_view kMagic { "SQLite format 3\0", 16 };
constexpr std::array<const char*, 2> kRescueSides { "", "-wal" };

std::uint32_t numberAt(const std::string& page, std::size_t at)
{
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
        number = number << 8 | static_cast<unsigned char>(page[at + i]);
    return number;
}

void setNumber(std::string& page, std::size_t at, std::uint64_t number)
{
    for (std::size_t i = 4; i-- > 0; number >>= 8)
        page[at + i] = static_cast<char>(number & 255u);
}

/// Into a file that is there, in pieces: it may be of many gigabytes.
Expected<void> copyBytes(const std::string& from, const std::string& to, const Progress& progress)
{
    std::error_code error;
    const double all = static_cast<double>(std::max<std::uintmax_t>(fs::file_size(from, error), 1));
    std::ifstream source(from, std::ios::binary);
    std::ofstream copy(to, std::ios::binary);
    std::string piece(kPieceBytes, '\0');
    for (double done = 0; source && copy; done += static_cast<double>(source.gcount())) {
        if (progress && !progress(std::min(done / all, 1.0)))
            return failure(ErrorCode::Canceled, "canceled");
        source.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        copy.write(piece.data(), source.gcount());
    }
    copy.close();
    if (!copy)
        return fileError("write", to);
    return source.eof() ? Expected<void>() : Expected<void>(fileError("read", from));
}

std::string firstPage(const std::string& path)
{
    std::string page(kPageBytes, '\0');
    std::ifstream(path, std::ios::binary).read(page.data(), static_cast<std::streamsize>(page.size()));
    return page;
}

}

FileRescue::FileRescue(const std::string& path, std::string copy)
    : m_path(path)
    , m_copy(std::move(copy))
{
}

FileRescue::~FileRescue()
{
    std::error_code error;
    for (const char* side : { "", "-wal", "-shm", "-journal", "-head" })
        fs::remove(m_copy + side, error);
}

/// SQLite opens no file that is shorter than it says. What is missing becomes pages that are none.
Expected<void> FileRescue::fillUp(std::vector<std::string>& lost) const
{
    std::error_code error;
    const std::string page = firstPage(m_copy);
    const std::uintmax_t bytes = fs::file_size(m_copy, error);
    const std::uintmax_t wanted = std::uintmax_t { numberAt(page, kPageCount) } * kPageBytes;
    constexpr std::uintmax_t kMost = std::uintmax_t { 1 } << 40; // a head that says more is none
    if (error || !page.starts_with(kMagic) || wanted <= bytes || wanted > kMost)
        return {};
    fs::resize_file(m_copy, wanted, error); // takes no place on the disk
    if (error)
        return failure(ErrorCode::Io, "cannot write " + m_copy + ": " + error.message());
    lost.push_back(fmt::format("the file was cut off: {} of its {} bytes are missing", wanted - bytes, wanted));
    return {};
}

/// Every file of the newest format begins alike: a new one has the same tables in the same places.
Expected<void> FileRescue::replaceHead() const
{
    const std::string fresh = m_copy + "-head";
    {
        auto db = openDatabase(fresh, OpenMode::Create);
        auto ok = db ? createSchema(db->get()) : tl::unexpected<Error>(db.error());
        if (!ok)
            return ok;
    }
    std::string page = firstPage(fresh);
    std::error_code error;
    const std::uintmax_t pages = (fs::file_size(m_copy, error) + kPageBytes - 1) / kPageBytes;
    fs::resize_file(m_copy, pages * kPageBytes, error);
    if (error)
        return failure(ErrorCode::Io, "cannot write " + m_copy + ": " + error.message());
    page[kWriteVersion] = page[kWriteVersion + 1] = 1;
    setNumber(page, kPageCount, pages);
    setNumber(page, kFreePages, 0);
    setNumber(page, kFreePages + 4, 0);
    setNumber(page, kValidFor, numberAt(page, kChangeCounter));
    std::fstream file(m_copy, std::ios::in | std::ios::out | std::ios::binary);
    file.write(page.data(), static_cast<std::streamsize>(page.size()));
    file.close();
    return file ? Expected<void>() : Expected<void>(fileError("write", m_copy));
}

Expected<Connection> FileRescue::open(std::vector<std::string>& lost, const Progress& progress)
{
    std::error_code error;
    for (const char* side : kRescueSides) {
        if (*side != 0 && !fs::exists(m_path + side, error))
            continue;
        fs::remove(m_copy + side, error);
        if (auto made = makePrivateFile(m_copy + side); !made)
            return tl::unexpected<Error>(std::move(made.error()));
        if (auto ok = copyBytes(m_path + side, m_copy + side, progress); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (auto ok = fillUp(lost); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto db = openForReading(m_copy);
    if (db || db.error().code != ErrorCode::Damaged)
        return db;
    Error why = db.error();
    fs::remove(m_copy + "-wal", error); // pages of a file with another beginning
    if (auto ok = replaceHead(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    db = openForReading(m_copy);
    const auto isRun = db
        ? queryInteger(db->get(), "SELECT count(*) FROM meta WHERE key IN ('store_id', 'created_ns', 'run_id')")
        : tl::unexpected<Error>(db.error());
    if (isRun.value_or(0) != 3)
        return tl::unexpected<Error>(std::move(why));
    lost.emplace_back("the beginning of the file is lost and was made anew, as every run of this format has it");
    return db;
}

}
