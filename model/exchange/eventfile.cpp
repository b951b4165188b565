// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventfile.h>

#include <cstring>
#include <numeric>

#include <telltale/core/bytes.h>

namespace telltale::exchange {
namespace {

/// Protobuf's wire types.
enum class Wire : unsigned { Varint = 0, Fixed64 = 1, Sized = 2, Fixed32 = 5 };

void putEventVarint(std::string& out, std::uint64_t value)
{
    while (value > 0x7F) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

void putTag(std::string& out, unsigned field, Wire wire)
{
    putEventVarint(out, field << 3 | static_cast<unsigned>(wire));
}

void putNumber(std::string& out, unsigned field, double value)
{
    putTag(out, field, Wire::Fixed64);
    putLe(out, value);
}

void putSized(std::string& out, unsigned field, std::string_view bytes)
{
    putTag(out, field, Wire::Sized);
    putEventVarint(out, bytes.size());
    out.append(bytes);
}

std::string_view bytesOf(std::span<const double> values)
{
    return { reinterpret_cast<const char*>(values.data()), values.size_bytes() };
}

std::string eventHead(double wallTime, Step step)
{
    std::string head;
    putNumber(head, 1, wallTime);
    putTag(head, 2, Wire::Varint);
    putEventVarint(head, static_cast<std::uint64_t>(step.value));
    return head;
}

/// An event with one value in its summary.
void appendEvent(std::string& out, std::string_view value, double wallTime, Step step)
{
    std::string summary, event = eventHead(wallTime, step);
    putSized(summary, 1, value);
    putSized(event, 5, summary);
    appendRecord(out, event);
}

std::uint32_t maskedCrc(std::string_view bytes)
{
    const std::uint32_t crc = crc32c(bytes);
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

}

void appendRecord(std::string& out, std::string_view data)
{
    std::string length;
    putLe(length, static_cast<std::uint64_t>(data.size()));
    out += length;
    putLe(out, maskedCrc(length));
    out += data;
    putLe(out, maskedCrc(data));
}

std::string firstRecord(double wallTime)
{
    std::string event, out;
    putNumber(event, 1, wallTime);
    putSized(event, 3, "brain.Event:2");
    appendRecord(out, event);
    return out;
}

ScalarEvent::ScalarEvent(std::span<const std::string> tags)
    : m_isThere(tags.size())
{
    for (const std::string& tag : tags) {
        std::string value;
        putSized(value, 1, tag);
        putTag(value, 2, Wire::Fixed32);
        putLe(value, 0.0f);
        const std::size_t begin = m_summary.size();
        putSized(m_summary, 1, value);
        m_holes.push_back({ begin, m_summary.size() - sizeof(float) });
    }
}

void ScalarEvent::set(std::span<const float> values, std::span<const std::uint8_t> isThere)
{
    for (std::size_t tag = 0; tag < m_holes.size(); ++tag)
        std::memcpy(m_summary.data() + m_holes[tag].number, &values[tag], sizeof(float));
    m_isThere.assign(isThere.begin(), isThere.end());
    m_there = std::accumulate(isThere.begin(), isThere.end(), std::size_t { 0 });
}

std::size_t ScalarEvent::appendTo(std::string& out, double wallTime, Step step)
{
    if (m_there == 0)
        return 0;
    std::string_view summary = m_summary;
    if (m_there < m_holes.size()) {
        m_scratch.clear();
        for (std::size_t tag = 0; tag < m_holes.size(); ++tag) {
            if (m_isThere[tag])
                m_scratch.append(
                    m_summary, m_holes[tag].begin, m_holes[tag].number + sizeof(float) - m_holes[tag].begin);
        }
        summary = m_scratch;
    }
    std::string head = eventHead(wallTime, step);
    putTag(head, 5, Wire::Sized);
    putEventVarint(head, summary.size());
    std::string length;
    putLe(length, static_cast<std::uint64_t>(head.size() + summary.size()));
    out += length;
    putLe(out, maskedCrc(length));
    const std::size_t begin = out.size();
    out += head;
    out += summary;
    putLe(out, maskedCrc(std::string_view(out).substr(begin)));
    return m_there;
}

void appendHistogram(std::string& out, const EventHistogram& histogram, double wallTime, Step step)
{
    std::string proto, value;
    putNumber(proto, 1, histogram.least);
    putNumber(proto, 2, histogram.greatest);
    putNumber(proto, 3, std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0));
    putSized(proto, 6, bytesOf(histogram.limits));
    putSized(proto, 7, bytesOf(histogram.counts));
    putSized(value, 1, histogram.tag);
    putSized(value, 5, proto);
    appendEvent(out, value, wallTime, step);
}

void appendText(std::string& out, std::string_view tag, std::string_view text, double wallTime)
{
    // Value {1: tag, 8: TensorProto {1: DT_STRING, 8: string_val}, 9: SummaryMetadata {1: PluginData {1: name}}}
    std::string tensor, plugin, metadata, value;
    putTag(tensor, 1, Wire::Varint);
    putEventVarint(tensor, 7);
    putSized(tensor, 8, text);
    putSized(plugin, 1, "text");
    putSized(metadata, 1, plugin);
    putSized(value, 1, tag);
    putSized(value, 8, tensor);
    putSized(value, 9, metadata);
    appendEvent(out, value, wallTime, Step { 0 });
}

}
