// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/msprobefolder.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <telltale/core/regularexpression.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4; ///< folders below the one that is named

constexpr std::array<std::pair<std::string_view, DType>, 10> kTypes { {
    { "float32", DType::F32 },
    { "float64", DType::F64 },
    { "float16", DType::F16 },
    { "bfloat16", DType::BF16 },
    { "int8", DType::I8 },
    { "uint8", DType::U8 },
    { "int16", DType::I16 },
    { "int32", DType::I32 },
    { "int64", DType::I64 },
    { "bool", DType::Bool },
} };

/// The rank and time of a folder's name.
bool readFolderName(const std::string& name, MsprobeFolder& folder)
{
    static const RegularExpression kFirst(R"(^([\w-]{0,20})-rank(\d{1,5})-.*)");
    static const RegularExpression kSecond(R"(^rank_?(\d{1,5})$)");
    static const RegularExpression kTime(R"(^([A-Z][a-z]{2})(\d{2})_(\d{2})-(\d{2})-(\d{2})$)");
    if (const auto second = kSecond.match(name); !second.empty()) {
        folder.rank = Rank { std::stoi(second[1]) };
        return true;
    }
    const auto first = kFirst.match(name);
    if (first.empty())
        return false;
    folder.rank = Rank { std::stoi(first[2]) };
    if (const auto parts = kTime.match(first[1]); !parts.empty()) {
        constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
        const auto month = static_cast<std::int64_t>(std::min(kMonths.find(parts[1]), kMonths.size()) / 3);
        folder.order = (((month * 32 + std::stoi(parts[2])) * 24 + std::stoi(parts[3])) * 60 + std::stoi(parts[4])) * 60
            + std::stoi(parts[5]);
    }
    return true;
}

bool readFileName(const fs::path& path, MsprobeFile& file)
{
    static const RegularExpression kName(R"(^([a-z_0-9]*[a-z])_(step)?(\d{1,15})-(\d{1,15})\.csv$)");
    const std::string name = path.filename().string();
    const auto groups = kName.match(name);
    if (groups.empty())
        return false;
    file = { path, groups[1], std::stoll(groups[3]), !groups[2].empty() };
    return headOf(path, 10) == "vpp_stage,";
}

}

std::vector<MsprobeFolder> findMsprobe(const fs::path& path)
{
    std::map<std::string, MsprobeFolder> found;
    const auto take = [&found](const fs::path& at) {
        MsprobeFile file;
        if (!readFileName(at, file))
            return;
        MsprobeFolder& folder = found[at.parent_path().string()];
        if (folder.files.empty()) {
            folder.path = at.parent_path();
            readFolderName(fs::absolute(at).parent_path().filename().string(), folder);
        }
        folder.files.push_back(std::move(file));
    };
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
        take(path);
    } else {
        auto it = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
        for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
            std::error_code unknown;
            if (it.depth() >= kDeepest)
                it.disable_recursion_pending();
            if (it->path().extension() == ".csv" && it->is_regular_file(unknown))
                take(it->path());
        }
    }
    std::vector<MsprobeFolder> folders;
    for (auto& [name, folder] : found) {
        std::sort(folder.files.begin(), folder.files.end(), [](const MsprobeFile& a, const MsprobeFile& b) {
            return std::tie(a.prefix, a.first, a.path) < std::tie(b.prefix, b.first, b.path);
        });
        folders.push_back(std::move(folder));
    }
    std::sort(folders.begin(), folders.end(), [](const MsprobeFolder& a, const MsprobeFolder& b) {
        return std::tie(a.rank, a.order, a.path) < std::tie(b.rank, b.order, b.path);
    });
    return folders;
}

DType msprobeDType(std::string_view text)
{
    std::string word(text.substr(text.rfind('.') == std::string_view::npos ? 0 : text.rfind('.') + 1));
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == word; });
    return found == kTypes.end() ? DType::Unknown : found->second;
}

std::string msprobeDTypeText(DType dtype)
{
    const auto found
        = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.second == dtype; });
    return found == kTypes.end() ? "nan" : "torch." + std::string(found->first);
}

}
