// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventreader.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <unordered_map>

#include <telltale/core/histogram.h>
#include <telltale/exchange/eventrecords.h>
#include <telltale/exchange/eventtags.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEventDepth = 12;

/// One event file, and what its place says.
struct EventFile {
    fs::path path;
    Rank rank;
    int attempt = 0; ///< as the folder says
    std::string folder; ///< below the rank's
    std::uintmax_t bytes = 0;
};

bool isEventFile(const fs::path& path)
{
    return path.filename().string().find("tfevents") != std::string::npos
        || headOf(path, 64).find("brain.Event:") != std::string::npos;
}

/// Rank, attempt and the rest of the folders above the file, below `top`.
void readPlace(const fs::path& top, EventFile& file)
{
    static const std::regex kRank(R"(^(?:.*-)?rank[_-]?(\d{1,7})(?:-attempt(\d{1,5}))?(?:-.*)?$)");
    std::error_code error;
    const fs::path base = fs::absolute(fs::is_directory(top, error) ? top : top.parent_path());
    std::string folder;
    bool hasRank = false;
    const auto takePart = [&](const std::string& part) {
        std::smatch match;
        if (!hasRank && std::regex_match(part, match, kRank)) {
            hasRank = true;
            file.rank = Rank { std::stoi(match[1]) };
            file.attempt = match[2].matched ? std::stoi(match[2]) : 0;
            folder.clear();
            return;
        }
        folder += (folder.empty() ? "" : "/") + part;
    };
    for (const fs::path& part : fs::absolute(file.path).parent_path().lexically_relative(base)) {
        if (part != ".")
            takePart(part.string());
    }
    file.folder = folder;
    if (hasRank)
        return;
    // The named folder may itself be a rank's.
    std::smatch match;
    const std::string own = base.filename().string();
    if (std::regex_match(own, match, kRank)) {
        file.rank = Rank { std::stoi(match[1]) };
        file.attempt = match[2].matched ? std::stoi(match[2]) : 0;
    }
}

std::vector<EventFile> findEventFiles(const fs::path& path, bool isFirstEnough = false)
{
    std::vector<EventFile> files;
    std::error_code error;
    const auto take = [&](const fs::path& at) {
        EventFile file { at, Rank { 0 }, 0, {}, fs::file_size(at, error) };
        readPlace(path, file);
        files.push_back(std::move(file));
    };
    if (fs::is_regular_file(path, error)) {
        if (isEventFile(path))
            take(path);
        return files;
    }
    auto it = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        std::error_code unknown;
        if (static_cast<std::size_t>(it.depth()) >= kMostEventDepth)
            it.disable_recursion_pending();
        if (!it->is_regular_file(unknown) || it->path().filename().string().find("tfevents") == std::string::npos)
            continue;
        take(it->path());
        if (isFirstEnough)
            break;
    }
    std::sort(files.begin(), files.end(), [](const EventFile& a, const EventFile& b) { return a.path < b.path; });
    return files;
}

/// What of a histogram's bins stays the same from step to step decides which bins it is kept in.
struct HistogramsRead {
    std::vector<std::int64_t> steps;
    std::vector<double> least;
    std::vector<std::vector<double>> limits, counts;
};

struct Tag {
    ForeignSeries* series = nullptr;
    std::size_t track = 0;
    std::unique_ptr<HistogramsRead> histograms;
    EventPlace place;
    std::string tag;
};

class EventFileReader {
public:
    EventFileReader(const EventFile& file, ForeignProcess& process, ForeignRun& run)
        : m_file(file)
        , m_process(process)
        , m_run(run)
    {
    }

    Expected<void> read(const ForeignReader::Progress& progress, double done, double all)
    {
        const auto mapped = MappedFile::open(m_file.path);
        if (!mapped) {
            m_run.noteDamage(mapped.error().sentence());
            return {};
        }
        EventRecords records(mapped->bytes());
        EventValue value;
        std::size_t count = 0;
        while (records.next()) {
            if (++count % 65536 == 0) {
                if (auto on = goOn(progress, (done + static_cast<double>(records.offset())) / all); !on)
                    return on;
            }
            while (records.nextValue(value))
                take(records, value);
        }
        for (auto& [name, tag] : m_histograms)
            finishHistogram(*tag);
        if (records.damaged() > 0 || records.isTorn())
            m_run.noteDamage(m_file.path.string() + ": "
                + (records.damaged() > 0 ? std::to_string(records.damaged()) + " records are damaged and left out"
                                         : std::string())
                + (records.damaged() > 0 && records.isTorn() ? "; " : "")
                + (records.isTorn() ? "it ends within a record" : ""));
        else if (count == 0)
            m_run.noteDamage(m_file.path.string() + ": there is no record in it");
        return {};
    }

private:
    void take(const EventRecords& records, EventValue& value)
    {
        const double time = records.wallTime();
        const std::int64_t ns = time > 0 && time < 9e9 ? std::llround(time * 1e9) : 0;
        switch (value.what) {
        case EventValue::What::Scalar: {
            Tag& tag = tagOf(value.tag);
            tag.series->tracks[tag.track].add(records.step(), value.number);
            if (ns > 0)
                m_process.noteTime(records.step(), ns);
            break;
        }
        case EventValue::What::Histogram: {
            std::unique_ptr<Tag>& tag = m_histograms[std::string(value.tag)];
            if (!tag) {
                tag = std::make_unique<Tag>();
                tag->place = eventPlace(value.tag, m_file.folder, true);
                tag->histograms = std::make_unique<HistogramsRead>();
            }
            HistogramsRead& read = *tag->histograms;
            read.steps.push_back(records.step());
            read.least.push_back(value.least);
            read.limits.push_back(std::move(value.limits));
            read.counts.push_back(std::move(value.counts));
            if (ns > 0)
                m_process.noteTime(records.step(), ns);
            break;
        }
        case EventValue::What::Text: {
            std::string text;
            for (const std::string_view part : value.texts)
                text += (text.empty() ? "" : "\n") + std::string(part);
            const std::string name = (m_file.folder.empty() ? "" : m_file.folder + "/") + std::string(value.tag);
            const bool isConfig = name == "config" && text.starts_with('{');
            m_process.documents.push_back({ isConfig ? "config" : "text", isConfig ? "config.json" : name,
                Step { isStep(records.step()) ? records.step() : 0 }, std::move(text) });
            break;
        }
        case EventValue::What::Other:
            m_run.leaveOut("values of TensorBoard's plugin "
                + (value.plugin.empty() ? "(none)" : std::string(value.plugin.substr(0, 64))));
            break;
        }
    }

    /// Writers go through the same tags in the same order, step after step.
    Tag& tagOf(std::string_view text)
    {
        if (!m_tags.empty()) {
            m_at = m_at + 1 < m_tags.size() ? m_at + 1 : 0;
            if (m_tags[m_at]->tag == text)
                return *m_tags[m_at];
            if (const std::size_t before = m_at == 0 ? m_tags.size() - 1 : m_at - 1; m_tags[before]->tag == text) {
                m_at = before;
                return *m_tags[before];
            }
        }
        const auto [at, isNew] = m_byText.try_emplace(std::string(text), m_tags.size());
        if (isNew) {
            auto tag = std::make_unique<Tag>();
            tag->tag = std::string(text);
            tag->place = eventPlace(text, m_file.folder, false);
            tag->series = &m_process.series(tag->place.kind, tag->place.desc);
            tag->track = static_cast<std::size_t>(&tag->series->track(tag->place.stat) - tag->series->tracks.data());
            m_tags.push_back(std::move(tag));
        }
        m_at = at->second;
        return *m_tags[m_at];
    }

    void finishHistogram(Tag& tag)
    {
        const HistogramsRead& read = *tag.histograms;
        bool isSame = !read.steps.empty();
        for (std::size_t i = 1; isSame && i < read.steps.size(); ++i)
            isSame = read.limits[i] == read.limits[0] && read.least[i] == read.least[0];
        std::vector<double> edges;
        if (isSame) {
            edges.push_back(read.least[0]);
            edges.insert(edges.end(), read.limits[0].begin(), read.limits[0].end());
            // Bins like TensorFlow's own begin at the least double, which stands for minus infinity.
            if (edges.size() > 1 && !(edges[0] < edges[1]))
                edges[0] = -HUGE_VAL;
        }
        if (!isSame || !checkEdges(edges)) {
            edges.assign(octaveEdges().begin(), octaveEdges().end());
            isSame = false;
            m_run.leaveOut("bins of histograms that change from step to step, or are too many: their counts are put "
                           "into bins of powers of two",
                read.steps.size());
        }
        Track& track = m_process.series(tag.place.kind, tag.place.desc, edges).track(Stat::Hist);
        for (std::size_t i = 0; i < read.steps.size(); ++i) {
            std::vector<double> counts(edges.size() - 1);
            double low = read.least[i];
            for (std::size_t bin = 0; bin < read.limits[i].size(); ++bin) {
                const double high = read.limits[i][bin];
                const std::size_t to
                    = isSame ? bin : binOf(edges, middleOf(std::max(low, -1e300), std::min(high, 1e300)));
                if (to < counts.size() && read.counts[i][bin] > 0)
                    counts[to] += read.counts[i][bin];
                low = high;
            }
            for (double& count : counts) {
                if (count != std::trunc(count) || !(count < 9e15)) {
                    m_run.leaveOut("parts of whole counts in histograms");
                    count = std::min(std::round(count), 9e15);
                }
            }
            track.steps.push_back(read.steps[i]);
            track.values.insert(track.values.end(), counts.begin(), counts.end());
        }
    }

    static double middleOf(double low, double high) { return low < 0 && high > 0 ? 0 : (low + high) / 2; }

    const EventFile& m_file;
    ForeignProcess& m_process;
    ForeignRun& m_run;
    std::vector<std::unique_ptr<Tag>> m_tags;
    std::unordered_map<std::string, std::size_t> m_byText;
    std::map<std::string, std::unique_ptr<Tag>> m_histograms;
    std::size_t m_at = 0;
};

/// Whether a file measures again what is there already: then its training began again.
bool overlaps(const ForeignProcess& before, const ForeignProcess& file)
{
    std::unordered_map<std::string, std::pair<std::int64_t, std::int64_t>> last;
    for (const ForeignSeries& series : before.all()) {
        for (const Track& track : series.tracks) {
            if (!track.steps.empty())
                last[series.desc.name + '\0' + series.desc.slot.text() + '\0'
                    + std::to_string(static_cast<int>(track.stat)) + std::to_string(static_cast<int>(series.kind)) + ':'
                    + std::to_string(series.desc.microStep)]
                    = { track.steps.front(), *std::max_element(track.steps.begin(), track.steps.end()) };
        }
    }
    for (const ForeignSeries& series : file.all()) {
        for (const Track& track : series.tracks) {
            const auto known = last.find(series.desc.name + '\0' + series.desc.slot.text() + '\0'
                + std::to_string(static_cast<int>(track.stat)) + std::to_string(static_cast<int>(series.kind)) + ':'
                + std::to_string(series.desc.microStep));
            if (known != last.end() && !track.steps.empty() && track.steps.front() <= known->second.second)
                return true;
        }
    }
    return false;
}

void absorb(ForeignProcess& into, ForeignProcess& file)
{
    for (ForeignSeries& series : file.all()) {
        ForeignSeries& to = into.series(series.kind, series.desc, series.edges);
        for (Track& track : series.tracks) {
            Track& all = to.track(track.stat);
            if (all.steps.empty()) {
                all = std::move(track);
                continue;
            }
            all.steps.insert(all.steps.end(), track.steps.begin(), track.steps.end());
            all.values.insert(all.values.end(), track.values.begin(), track.values.end());
        }
    }
    for (const auto& [step, ns] : file.times())
        into.noteTime(step, ns);
    std::move(file.documents.begin(), file.documents.end(), std::back_inserter(into.documents));
}

}

bool EventReader::claims(const fs::path& path) const
{
    return !findEventFiles(path, true).empty();
}

Expected<void> EventReader::read(const fs::path& path, ForeignRun& run, const Progress& progress) const
{
    const std::vector<EventFile> files = findEventFiles(path);
    double all = 1, done = 0;
    for (const EventFile& file : files)
        all += static_cast<double>(file.bytes);
    std::map<Rank, int> begun; // attempts of a rank that were there before
    std::map<std::tuple<Rank, int, std::string>, int> attempts; // of a folder: its newest
    for (const EventFile& file : files) {
        begun.try_emplace(file.rank, run.attemptsOf(file.rank));
        ForeignProcess read(file.rank, 0);
        EventFileReader reader(file, read, run);
        if (auto ok = reader.read(progress, done, all); !ok)
            return ok;
        done += static_cast<double>(file.bytes);
        const auto [at, isFirst]
            = attempts.try_emplace({ file.rank, file.attempt, file.folder }, begun[file.rank] + file.attempt);
        if (!isFirst && overlaps(run.process(file.rank, at->second), read))
            ++at->second;
        ForeignProcess& into = run.process(file.rank, at->second);
        into.framework = "TensorBoard";
        for (const auto& [step, ns] : read.times())
            run.createdNs = run.createdNs == 0 ? ns : std::min(run.createdNs, ns);
        absorb(into, read);
    }
    return {};
}

}
