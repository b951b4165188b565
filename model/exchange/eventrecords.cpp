// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventrecords.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <telltale/core/bytes.h>
#include <telltale/exchange/wirefields.h>

namespace telltale::exchange {
namespace {

constexpr std::size_t kRecordFrame = 16; ///< length, its checksum, the data's checksum
constexpr std::size_t kMostBins = 1U << 20;
constexpr std::uint64_t kMostGrowing = std::uint64_t { 1 } << 29; ///< of a record that is waited for

bool hasChecksum(std::string_view bytes, std::uint32_t masked)
{
    const std::uint32_t crc = crc32c(bytes);
    return (crc >> 15 | crc << 17) + 0xA282EAD8U == masked;
}

/// DataType of tensorflow/core/framework/types.proto.
enum TensorType : std::uint64_t {
    kFloat = 1,
    kDouble = 2,
    kInt32 = 3,
    kString = 7,
    kInt64 = 9,
    kBool = 10,
    kHalf = 19
};

double halfToDouble(std::uint16_t bits)
{
    const int exponent = bits >> 10 & 0x1F;
    const int mantissa = bits & 0x3FF;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31)
        return mantissa != 0 ? std::nan("") : sign * INFINITY;
    return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

template <typename T> void appendNumbers(std::string_view bytes, std::vector<double>& out)
{
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size() && out.size() < kMostBins; at += sizeof(T))
        out.push_back(static_cast<double>(getLe<T>(bytes, at)));
}

/// A TensorProto's numbers, whichever way it holds them.
struct TensorValues {
    std::uint64_t type = 0;
    std::vector<double> numbers;
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> shape;
    bool isSound = true;

    explicit TensorValues(std::string_view bytes)
    {
        WireFields fields(bytes);
        std::string_view content;
        while (fields.next()) {
            if (fields.field == 1)
                type = fields.number;
            else if (fields.field == 2)
                readShape(fields.sized);
            else if (fields.field == 4)
                content = fields.sized;
            else if (fields.field == 5 && !fields.sized.empty())
                appendNumbers<float>(fields.sized, numbers);
            else if (fields.field == 5)
                numbers.push_back(static_cast<double>(fields.asFloat()));
            else if (fields.field == 6 && !fields.sized.empty())
                appendNumbers<double>(fields.sized, numbers);
            else if (fields.field == 6)
                numbers.push_back(fields.asDouble());
            else if (fields.field == 7 || fields.field == 10 || fields.field == 11 || fields.field == 13)
                readWhole(fields);
            else if (fields.field == 8)
                texts.push_back(fields.sized);
        }
        isSound = !fields.isBroken();
        if (content.empty())
            return;
        if (type == kFloat)
            appendNumbers<float>(content, numbers);
        else if (type == kDouble)
            appendNumbers<double>(content, numbers);
        else if (type == kInt32)
            appendNumbers<std::int32_t>(content, numbers);
        else if (type == kInt64)
            appendNumbers<std::int64_t>(content, numbers);
        else if (type == kHalf) {
            for (std::size_t at = 0; at + 2 <= content.size() && numbers.size() < kMostBins; at += 2)
                numbers.push_back(halfToDouble(getLe<std::uint16_t>(content, at)));
        }
    }

private:
    void readShape(std::string_view bytes)
    {
        WireFields dims(bytes);
        while (dims.next()) {
            WireFields dim(dims.sized);
            std::int64_t size = 0;
            while (dims.field == 2 && dim.next())
                size = dim.field == 1 ? static_cast<std::int64_t>(dim.number) : size;
            if (dims.field == 2 && shape.size() < 64)
                shape.push_back(size);
        }
    }
    void readWhole(const WireFields& field)
    {
        const auto add = [&](std::uint64_t bits) {
            if (numbers.size() >= kMostBins)
                return;
            numbers.push_back(type == kHalf ? halfToDouble(static_cast<std::uint16_t>(bits))
                                            : static_cast<double>(static_cast<std::int64_t>(bits)));
        };
        if (field.sized.empty()) {
            add(field.number);
            return;
        }
        for (std::size_t at = 0; at < field.sized.size();) {
            std::uint64_t value = 0;
            for (unsigned shift = 0; at < field.sized.size() && shift < 64; shift += 7) {
                const auto byte = static_cast<unsigned char>(field.sized[at++]);
                value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
                if (byte < 0x80)
                    break;
            }
            add(value);
        }
    }
};

/// HistogramProto {1: min, 6: bucket_limit, 7: bucket}.
bool readHistogram(std::string_view bytes, EventValue& value)
{
    WireFields fields(bytes);
    while (fields.next()) {
        if (fields.field == 1)
            value.least = fields.asDouble();
        std::vector<double>* const to = fields.field == 6 ? &value.limits : fields.field == 7 ? &value.counts : nullptr;
        if (!to || to->size() > kMostBins)
            continue;
        if (fields.sized.empty())
            to->push_back(fields.asDouble());
        else
            appendNumbers<double>(fields.sized, *to);
    }
    value.what = EventValue::What::Histogram;
    return !fields.isBroken() && value.limits.size() == value.counts.size();
}

}

/// Behind a damaged length, which does not say where the next record begins: goes to the first place that can be one.
bool EventRecords::findRecord()
{
    for (; m_at + kRecordFrame <= m_file.size(); ++m_at) {
        const auto length = getLe<std::uint64_t>(m_file, m_at);
        const bool isOne = (m_isGrowing ? length <= kMostGrowing : length <= m_file.size() - m_at - kRecordFrame)
            && hasChecksum(m_file.substr(m_at, 8), getLe<std::uint32_t>(m_file, m_at + 8));
        m_isSearching = !isOne;
        if (isOne)
            return true;
    }
    if (!m_isGrowing)
        m_at = m_file.size();
    return false;
}

/// Of a file that grows: its length is there before its bytes are, on some file systems.
bool EventRecords::isYetToCome() const
{
    return m_isGrowing && m_file.find_first_not_of('\0', m_at) == std::string_view::npos;
}

bool EventRecords::next()
{
    for (;;) {
        if (m_isSearching && !findRecord())
            return false;
        m_isTorn = m_at < m_file.size();
        if (m_file.size() - m_at < kRecordFrame)
            return false;
        const auto length = getLe<std::uint64_t>(m_file, m_at);
        const bool isFramed = hasChecksum(m_file.substr(m_at, 8), getLe<std::uint32_t>(m_file, m_at + 8))
            && (!m_isGrowing || length <= kMostGrowing);
        if (!isFramed) {
            if (isYetToCome())
                return false;
            m_isTorn = false;
            ++m_damaged;
            ++m_at;
            m_isSearching = true;
            continue;
        }
        if (length > m_file.size() - m_at - kRecordFrame) {
            if (!m_isGrowing)
                m_at = m_file.size();
            return false;
        }
        m_isTorn = false;
        const std::string_view data = m_file.substr(m_at + 12, static_cast<std::size_t>(length));
        const auto masked = getLe<std::uint32_t>(m_file, m_at + 12 + data.size());
        m_at += kRecordFrame + data.size();
        if (!hasChecksum(data, masked)) {
            ++m_damaged;
            continue;
        }
        m_wallTime = 0;
        m_step = 0;
        m_summary = {};
        m_summaryAt = 0;
        WireFields fields(data);
        while (fields.next()) {
            if (fields.field == 1)
                m_wallTime = fields.asDouble();
            else if (fields.field == 2)
                m_step = static_cast<std::int64_t>(fields.number);
            else if (fields.field == 3)
                m_version = fields.sized;
            else if (fields.field == 5)
                m_summary = fields.sized;
        }
        if (!fields.isBroken())
            return true;
        ++m_damaged;
    }
}

std::string EventRecords::damageText() const
{
    std::string text;
    if (m_damaged > 0)
        text = std::to_string(m_damaged) + " records are damaged and left out";
    if (m_isTorn)
        text += std::string(text.empty() ? "" : "; ") + "it ends within a record";
    return text;
}

bool EventRecords::nextValue(EventValue& value)
{
    while (m_summaryAt < m_summary.size()) {
        WireFields fields(m_summary.substr(m_summaryAt));
        if (!fields.next()) {
            ++m_damaged;
            m_summaryAt = m_summary.size();
            return false;
        }
        if (fields.field != 1 || fields.sized.data() == nullptr) {
            m_summaryAt = m_summary.size(); // nothing else is known there
            continue;
        }
        m_summaryAt = static_cast<std::size_t>(fields.sized.data() + fields.sized.size() - m_summary.data());
        if (readSummaryValue(fields.sized, value))
            return true;
        ++m_damaged;
    }
    return false;
}

std::string_view EventRecords::pluginOf(std::string_view tag) const
{
    const auto found = m_plugins.find(tag);
    return found == m_plugins.end() ? std::string_view() : std::string_view(found->second);
}

bool EventRecords::readSummaryValue(std::string_view bytes, EventValue& value)
{
    value.what = EventValue::What::Other;
    value.tag = value.plugin = {};
    value.limits.clear();
    value.counts.clear();
    value.texts.clear();
    std::string_view tensor;
    bool hasTensor = false, isSound = true;
    WireFields fields(bytes);
    while (fields.next()) {
        switch (fields.field) {
        case 1:
            value.tag = fields.sized;
            break;
        case 2:
            value.what = EventValue::What::Scalar;
            value.number = static_cast<double>(fields.asFloat());
            break;
        case 4:
            value.plugin = "images";
            break;
        case 5:
            isSound = readHistogram(fields.sized, value);
            break;
        case 6:
            value.plugin = "audio";
            break;
        case 8:
            tensor = fields.sized;
            hasTensor = true;
            break;
        case 9: {
            WireFields metadata(fields.sized);
            while (metadata.next()) {
                WireFields plugin(metadata.sized);
                while (metadata.field == 1 && plugin.next())
                    value.plugin = plugin.field == 1 ? plugin.sized : value.plugin;
            }
            break;
        }
        default:
            break;
        }
    }
    if (fields.isBroken() || !isSound)
        return false;
    if (!hasTensor)
        return true;
    if (value.plugin.empty())
        value.plugin = pluginOf(value.tag);
    else if (pluginOf(value.tag).empty())
        m_plugins.emplace(value.tag, value.plugin);
    return readTensor(tensor, value, value.plugin);
}

bool EventRecords::readTensor(std::string_view bytes, EventValue& value, std::string_view plugin)
{
    TensorValues tensor(bytes);
    if (!tensor.isSound)
        return false;
    if (tensor.type == kString && (plugin == "text" || plugin.empty())) {
        value.what = EventValue::What::Text;
        value.texts = std::move(tensor.texts);
    } else if (plugin == "histograms" && tensor.numbers.size() % 3 == 0) {
        value.what = EventValue::What::Histogram;
        for (std::size_t bin = 0; bin < tensor.numbers.size(); bin += 3) {
            value.limits.push_back(tensor.numbers[bin + 1]);
            value.counts.push_back(tensor.numbers[bin + 2]);
        }
        value.least = tensor.numbers.empty() ? 0 : tensor.numbers.front();
    } else if ((plugin == "scalars" || plugin.empty()) && tensor.numbers.size() == 1) {
        value.what = EventValue::What::Scalar;
        value.number = tensor.numbers.front();
    }
    return true;
}

}
