// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace telltale::test {

/// While it lives, SQLite's files lie on a disk whose power goes at the n-th change. What was not synced until then is
/// there or not, change by change. Thread: one.
class PowerCut {
public:
    PowerCut(int changes, unsigned seed)
        : m_left(changes)
        , m_random(seed)
    {
        s_now = this;
        m_real = sqlite3_vfs_find(nullptr);
        m_vfs = *m_real;
        m_vfs.zName = "powercut";
        m_vfs.szOsFile += static_cast<int>(sizeof(File));
        m_vfs.xOpen = open;
        m_vfs.xDelete = remove;
        sqlite3_vfs_register(&m_vfs, 1);
    }
    PowerCut(const PowerCut&) = delete;
    PowerCut& operator=(const PowerCut&) = delete;
    ~PowerCut()
    {
        sqlite3_vfs_unregister(&m_vfs);
        s_now = nullptr;
    }

    bool hasCome() const { return m_left <= 0; }
    /// The files as they are found when the power is back. After the last connection was closed.
    void leave()
    {
        for (auto& [path, file] : m_files) {
            for (const Change& change : file.pending) {
                if (m_random() % 2 == 0)
                    change.apply(file);
            }
            if (file.exists)
                std::ofstream(path, std::ios::binary | std::ios::trunc) << file.durable;
            else
                std::remove(path.c_str());
        }
    }

private:
    struct Durable;
    struct Change {
        enum class What : std::uint8_t { Write, Truncate, Remove } what = What::Write;
        std::size_t at = 0;
        std::string bytes;

        void apply(Durable& file) const;
    };
    struct Durable {
        std::string durable;
        bool exists = false;
        std::vector<Change> pending;

        void sync()
        {
            exists = true;
            for (const Change& change : pending)
                change.apply(*this);
            pending.clear();
        }
    };
    struct File {
        sqlite3_file base;
        Durable* content;
        sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };

    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static sqlite3_file* real(sqlite3_file* file) { return of(file).real(); }
    /// False when the power is gone.
    static bool take(sqlite3_file* file, Change change)
    {
        if (of(file).content == nullptr)
            return true;
        if (s_now->m_left > 0)
            of(file).content->pending.push_back(std::move(change));
        return s_now->m_left > 0 && --s_now->m_left > 0;
    }

    static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at)
    {
        const std::string text(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
        if (!take(file, { Change::What::Write, static_cast<std::size_t>(at), text }))
            return SQLITE_IOERR_WRITE;
        return real(file)->pMethods->xWrite(real(file), bytes, count, at);
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size)
    {
        if (!take(file, { Change::What::Truncate, static_cast<std::size_t>(size), {} }))
            return SQLITE_IOERR_TRUNCATE;
        return real(file)->pMethods->xTruncate(real(file), size);
    }
    static int sync(sqlite3_file* file, int)
    {
        if (s_now->m_left <= 0 || --s_now->m_left <= 0)
            return SQLITE_IOERR_FSYNC;
        if (of(file).content)
            of(file).content->sync();
        return SQLITE_OK;
    }
    static int remove(sqlite3_vfs*, const char* path, int isSynced)
    {
        Durable& file = s_now->m_files[path];
        if (s_now->m_left > 0)
            file.pending.push_back({ Change::What::Remove, 0, {} });
        if (s_now->m_left <= 0 || --s_now->m_left <= 0)
            return SQLITE_IOERR_DELETE;
        if (isSynced != 0)
            file.pending.back().apply(file);
        return s_now->m_real->xDelete(s_now->m_real, path, isSynced);
    }
    static int open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* given)
    {
        file->pMethods = nullptr;
        of(file).content = nullptr;
        const int rc = s_now->m_real->xOpen(s_now->m_real, path, real(file), flags, given);
        if (rc != SQLITE_OK)
            return rc;
        if (path && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0) {
            const auto [entry, isNew] = s_now->m_files.try_emplace(path);
            of(file).content = &entry->second;
            std::ostringstream content;
            content << std::ifstream(path, std::ios::binary).rdbuf();
            if (isNew && content.tellp() > 0)
                entry->second = { content.str(), true, {} };
        }
        file->pMethods = methods();
        return SQLITE_OK;
    }
    static const sqlite3_io_methods* methods()
    {
        static const sqlite3_io_methods table { 2, [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); },
            [](sqlite3_file* f, void* to, int count, sqlite3_int64 at) {
                return real(f)->pMethods->xRead(real(f), to, count, at);
            },
            write, truncate, sync,
            [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); },
            [](sqlite3_file* f, int lock) { return real(f)->pMethods->xLock(real(f), lock); },
            [](sqlite3_file* f, int lock) { return real(f)->pMethods->xUnlock(real(f), lock); },
            [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); },
            [](sqlite3_file* f, int op, void* arg) { return real(f)->pMethods->xFileControl(real(f), op, arg); },
            [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
            // No promise of the real disk's is kept, such as that what is overwritten is so wholly or not at all.
            [](sqlite3_file*) { return 0; },
            [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
                return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
            },
            [](sqlite3_file* f, int offset, int n, int flags) {
                return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
            },
            [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
            [](sqlite3_file* f, int isGone) { return real(f)->pMethods->xShmUnmap(real(f), isGone); }, nullptr,
            nullptr };
        return &table;
    }

    inline static PowerCut* s_now = nullptr;
    int m_left;
    std::mt19937 m_random;
    sqlite3_vfs* m_real = nullptr;
    sqlite3_vfs m_vfs {};
    std::map<std::string, Durable> m_files;
};

inline void PowerCut::Change::apply(Durable& file) const
{
    if (what == What::Remove) {
        file.durable.clear();
        file.exists = false;
        return;
    }
    if (what == What::Write && file.durable.size() < at + bytes.size())
        file.durable.resize(at + bytes.size());
    if (what == What::Write)
        file.durable.replace(at, bytes.size(), bytes);
    else
        file.durable.resize(at);
}

}
