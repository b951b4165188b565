// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/protocol/messages.h>
#include <telltale/spool/filehandle.h>

namespace telltale::agent {

/// How much a process has produced, in memory that outlives it: once it is killed it cannot say so itself. The page is
/// a file of a memory file system, never of a disk or a network: the training thread writes to it, and must not wait
/// for either. Without one nothing is written, and nobody will know exactly what such a process took with it. Thread:
/// set() training, the rest any, one at a time.
class ProductionPage {
public:
    /// What a process left that is gone.
    struct Left {
        std::filesystem::path path;
        protocol::Hello hello;
        Produced produced;

        void remove() const;
    };

    /// The page of a stream, with nothing produced yet; none for no stream. Old pages of dead processes go.
    ProductionPage(const std::optional<protocol::Hello>& hello, const std::filesystem::path& runFolder);
    ~ProductionPage();
    ProductionPage(const ProductionPage&) = delete;
    ProductionPage& operator=(const ProductionPage&) = delete;

    bool isOpen() const { return m_page != nullptr; }
    void set(std::uint64_t samples, std::uint64_t scalars) noexcept;
    /// The process has said itself how much it was.
    void remove();

    /// Of one stream, when its process is gone and left one.
    static std::optional<Left> leftBy(std::uint64_t incarnation);
    /// Whether a page is there whose process lives, or has not wholly gone yet.
    static bool isHeld(std::uint64_t incarnation);
    /// Of all processes that are gone and had their spools in the same run's folder.
    static std::vector<Left> leftByRun(const std::filesystem::path& runFolder);

private:
    struct Page;

    std::filesystem::path m_path;
    FileHandle m_file; ///< holds the lock that says that the process lives
    Page* m_page = nullptr;
    std::size_t m_bytes = 0;
};

}
