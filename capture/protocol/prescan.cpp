// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/prescan.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

enum class Shape : std::uint8_t {
    Envelope,
    Hello,
    Welcome,
    Ack,
    Heartbeat,
    Payload,
    Layout,
    Series,
    Blocks,
    Rejected,
    ConfigOffer,
    ConfigStatus,
    RecorderAsk,
    Notice,
    Bye,
    ControlHello,
    ImportRun,
    FindStream,
    ControlReply,
    ConfigAsk,
    ConfigPush,
    ConfigState,
    RankState,
    NoteWrite,
    Blob,
    Event,
    Drop,
    Leaf, ///< has neither submessages nor repeated fields
};

enum class FieldClass : std::uint8_t { Message, Repeated, Packed };

struct FieldRule {
    Shape owner;
    int field;
    FieldClass fieldClass;
    Shape shape = Shape::Leaf;
};

/// Every field that can make the parser allocate: all others are numbers or a single string, bounded by their bytes.
constexpr std::array kRules {
    FieldRule { Shape::Envelope, wire::Envelope::kHelloFieldNumber, FieldClass::Message, Shape::Hello },
    FieldRule { Shape::Envelope, wire::Envelope::kWelcomeFieldNumber, FieldClass::Message, Shape::Welcome },
    FieldRule { Shape::Envelope, wire::Envelope::kBatchFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kAckFieldNumber, FieldClass::Message, Shape::Ack },
    FieldRule { Shape::Envelope, wire::Envelope::kNackFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kHeartbeatFieldNumber, FieldClass::Message, Shape::Heartbeat },
    FieldRule { Shape::Envelope, wire::Envelope::kConfigOfferFieldNumber, FieldClass::Message, Shape::ConfigOffer },
    FieldRule { Shape::Envelope, wire::Envelope::kConfigStatusFieldNumber, FieldClass::Message, Shape::ConfigStatus },
    FieldRule { Shape::Envelope, wire::Envelope::kRecorderAskFieldNumber, FieldClass::Message, Shape::RecorderAsk },
    FieldRule { Shape::Envelope, wire::Envelope::kNoticeFieldNumber, FieldClass::Message, Shape::Notice },
    FieldRule { Shape::Envelope, wire::Envelope::kByeFieldNumber, FieldClass::Message, Shape::Bye },
    FieldRule { Shape::Envelope, wire::Envelope::kKnockFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kChallengeFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kControlHelloFieldNumber, FieldClass::Message, Shape::ControlHello },
    FieldRule { Shape::Envelope, wire::Envelope::kImportRunFieldNumber, FieldClass::Message, Shape::ImportRun },
    FieldRule { Shape::Envelope, wire::Envelope::kRunPartFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kRunTakenFieldNumber, FieldClass::Message },
    FieldRule { Shape::Envelope, wire::Envelope::kFindStreamFieldNumber, FieldClass::Message, Shape::FindStream },
    FieldRule { Shape::Envelope, wire::Envelope::kControlReplyFieldNumber, FieldClass::Message, Shape::ControlReply },
    FieldRule { Shape::Envelope, wire::Envelope::kConfigAskFieldNumber, FieldClass::Message, Shape::ConfigAsk },
    FieldRule { Shape::Envelope, wire::Envelope::kConfigPushFieldNumber, FieldClass::Message, Shape::ConfigPush },
    FieldRule { Shape::Envelope, wire::Envelope::kConfigStateFieldNumber, FieldClass::Message, Shape::ConfigState },
    FieldRule { Shape::Envelope, wire::Envelope::kNoteWriteFieldNumber, FieldClass::Message, Shape::NoteWrite },
    FieldRule { Shape::ConfigPush, wire::ConfigPush::kRanksFieldNumber, FieldClass::Packed },
    FieldRule { Shape::ConfigState, wire::ConfigState::kAskedFieldNumber, FieldClass::Packed },
    FieldRule { Shape::ConfigState, wire::ConfigState::kRanksFieldNumber, FieldClass::Message, Shape::RankState },
    FieldRule { Shape::FindStream, wire::FindStream::kStreamFieldNumber, FieldClass::Message, Shape::Hello },
    FieldRule { Shape::ControlReply, wire::ControlReply::kDamageFieldNumber, FieldClass::Repeated },
    FieldRule { Shape::Hello, wire::Hello::kCapabilitiesFieldNumber, FieldClass::Repeated },
    FieldRule { Shape::Hello, wire::Hello::kClocksFieldNumber, FieldClass::Message },
    FieldRule { Shape::Welcome, wire::Welcome::kCapabilitiesFieldNumber, FieldClass::Repeated },
    FieldRule { Shape::Ack, wire::Ack::kRejectedFieldNumber, FieldClass::Message, Shape::Rejected },
    FieldRule { Shape::Heartbeat, wire::Heartbeat::kClocksFieldNumber, FieldClass::Message },
    FieldRule { Shape::Heartbeat, wire::Heartbeat::kDropsByClassFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Payload, wire::Payload::kLayoutsFieldNumber, FieldClass::Message, Shape::Layout },
    FieldRule { Shape::Payload, wire::Payload::kBlocksFieldNumber, FieldClass::Message, Shape::Blocks },
    FieldRule { Shape::Payload, wire::Payload::kOrderFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Payload, wire::Payload::kBlobsFieldNumber, FieldClass::Message, Shape::Blob },
    FieldRule { Shape::Payload, wire::Payload::kEventsFieldNumber, FieldClass::Message, Shape::Event },
    FieldRule { Shape::Payload, wire::Payload::kDropsFieldNumber, FieldClass::Message, Shape::Drop },
    FieldRule { Shape::Layout, wire::Layout::kStatsFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Layout, wire::Layout::kSeriesFieldNumber, FieldClass::Message, Shape::Series },
    FieldRule { Shape::Layout, wire::Layout::kEdgesFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Series, wire::Series::kShapeFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Series, wire::Series::kFullShapeFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Blocks, wire::Blocks::kStepsFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Blocks, wire::Blocks::kWallNsFieldNumber, FieldClass::Packed },
    FieldRule { Shape::Blocks, wire::Blocks::kColumnsFieldNumber, FieldClass::Repeated },
};

constexpr std::uint32_t bits(std::initializer_list<int> fields)
{
    std::uint32_t out = 0;
    for (const int field : fields)
        out |= 1u << field;
    return out;
}

/// The string fields of a shape. They are checked here, because protobuf writes a line to stderr for each bad one.
constexpr std::uint32_t textFields(Shape shape)
{
    switch (shape) {
    case Shape::Hello:
        return bits({ wire::Hello::kCapabilitiesFieldNumber, wire::Hello::kRunKeyFieldNumber,
            wire::Hello::kRunNameFieldNumber, wire::Hello::kKeySourceFieldNumber, wire::Hello::kAgentIdFieldNumber,
            wire::Hello::kHostFieldNumber, wire::Hello::kRoleFieldNumber, wire::Hello::kFrameworkFieldNumber,
            wire::Hello::kAgentVersionFieldNumber, wire::Hello::kDeviceFieldNumber,
            wire::Hello::kConfigHashFieldNumber });
    case Shape::Welcome:
        return bits({ wire::Welcome::kCapabilitiesFieldNumber, wire::Welcome::kStoreIdFieldNumber });
    case Shape::Rejected:
        return bits({ wire::Rejected::kReasonFieldNumber });
    case Shape::ConfigOffer:
        return bits({ wire::ConfigOffer::kJsonFieldNumber, wire::ConfigOffer::kHashFieldNumber });
    case Shape::ConfigStatus:
        return bits({ wire::ConfigStatus::kReasonFieldNumber, wire::ConfigStatus::kHashFieldNumber,
            wire::ConfigStatus::kJsonFieldNumber });
    case Shape::RecorderAsk:
        return bits({ wire::RecorderAsk::kWhyFieldNumber });
    case Shape::Notice:
        return bits({ wire::Notice::kTextFieldNumber });
    case Shape::Bye:
        return bits({ wire::Bye::kReasonFieldNumber });
    case Shape::ControlHello:
        return bits({ wire::ControlHello::kProgramFieldNumber });
    case Shape::ImportRun:
        return bits({ wire::ImportRun::kFileNameFieldNumber });
    case Shape::ControlReply:
        return bits({ wire::ControlReply::kErrorFieldNumber, wire::ControlReply::kTodoFieldNumber,
            wire::ControlReply::kRunIdFieldNumber, wire::ControlReply::kCapsuleFieldNumber,
            wire::ControlReply::kDamageFieldNumber, wire::ControlReply::kAgentTokenFieldNumber });
    case Shape::ConfigAsk:
        return bits({ wire::ConfigAsk::kRunFieldNumber });
    case Shape::ConfigPush:
        return bits({ wire::ConfigPush::kRunFieldNumber, wire::ConfigPush::kJsonFieldNumber,
            wire::ConfigPush::kAuthorFieldNumber });
    case Shape::ConfigState:
        return bits({ wire::ConfigState::kRunIdFieldNumber, wire::ConfigState::kJsonFieldNumber,
            wire::ConfigState::kAuthorFieldNumber });
    case Shape::RankState:
        return bits({ wire::RankState::kHostFieldNumber, wire::RankState::kReasonFieldNumber,
            wire::RankState::kRunsFieldNumber });
    case Shape::NoteWrite:
        return bits({ wire::NoteWrite::kRunFieldNumber, wire::NoteWrite::kTextFieldNumber,
            wire::NoteWrite::kAuthorFieldNumber });
    case Shape::Series:
        return bits({ wire::Series::kNameFieldNumber, wire::Series::kSlotFieldNumber,
            wire::Series::kDefinitionFieldNumber, wire::Series::kWordFieldNumber, wire::Series::kPositionFieldNumber });
    case Shape::Blob:
        return bits({ wire::Blob::kBlobIdFieldNumber, wire::Blob::kKindFieldNumber, wire::Blob::kNameFieldNumber });
    case Shape::Event:
        return bits({ wire::Event::kKindFieldNumber, wire::Event::kTextFieldNumber, wire::Event::kJsonFieldNumber,
            wire::Event::kRuleFieldNumber, wire::Event::kPhaseFieldNumber, wire::Event::kCauseFieldNumber,
            wire::Event::kAuthorFieldNumber });
    case Shape::Drop:
        return bits({ wire::Drop::kReasonFieldNumber });
    default:
        return 0;
    }
}

bool isText(Shape shape, std::uint64_t field)
{
    return field < 32 && (textFields(shape) >> field & 1u) != 0;
}

const FieldRule* ruleFor(Shape owner, std::uint64_t field)
{
    if (owner == Shape::Leaf)
        return nullptr;
    const auto it = std::find_if(kRules.begin(), kRules.end(), [owner, field](const FieldRule& rule) {
        return rule.owner == owner && static_cast<std::uint64_t>(rule.field) == field;
    });
    return it == kRules.end() ? nullptr : &*it;
}

/// Thread: owned by one call.
class Scanner {
public:
    Expected<void> scan(std::string_view bytes, Shape shape, int depth)
    {
        if (depth > limits::kMaxDepth)
            return failure(ErrorCode::TooLarge, "message is nested too deeply");
        while (!bytes.empty()) {
            std::uint64_t tag = 0;
            if (!takeVarint(bytes, tag) || tag > UINT32_MAX || tag >> 3 == 0)
                return damaged();
            const auto wireType = static_cast<unsigned>(tag & 7u);
            const std::string_view before = bytes;
            if (auto done = field(bytes, wireType, ruleFor(shape, tag >> 3), depth); !done)
                return done;
            if (wireType == 2 && isText(shape, tag >> 3) && !isUtf8(textOf(before, bytes)))
                return failure(ErrorCode::BadInput, "message has text that is not UTF-8");
        }
        return {};
    }

private:
    static tl::unexpected<Error> damaged() { return failure(ErrorCode::BadInput, "bytes are not a Telltale message"); }

    /// What a length-delimited field that stood between `before` and `after` contains.
    static std::string_view textOf(std::string_view before, std::string_view after)
    {
        std::uint64_t length = 0;
        takeVarint(before, length);
        return before.substr(0, before.size() - after.size());
    }

    static bool takeVarint(std::string_view& bytes, std::uint64_t& value)
    {
        value = 0;
        for (unsigned i = 0; i < 10 && i < bytes.size(); ++i) {
            const auto byte = static_cast<unsigned char>(bytes[i]);
            value |= static_cast<std::uint64_t>(byte & 0x7Fu) << (7 * i);
            if (byte < 0x80) {
                bytes.remove_prefix(i + 1);
                return true;
            }
        }
        return false;
    }

    Expected<void> field(std::string_view& bytes, unsigned wireType, const FieldRule* rule, int depth)
    {
        std::uint64_t value = 0;
        switch (wireType) {
        case 0:
            if (!takeVarint(bytes, value))
                return damaged();
            return rule != nullptr ? addElements(1) : Expected<void> {};
        case 1:
        case 5: {
            const std::size_t width = wireType == 1 ? 8 : 4;
            if (bytes.size() < width)
                return damaged();
            bytes.remove_prefix(width);
            return rule != nullptr ? addElements(1) : Expected<void> {};
        }
        case 2: {
            if (!takeVarint(bytes, value) || value > bytes.size())
                return damaged();
            const std::string_view inner = bytes.substr(0, static_cast<std::size_t>(value));
            bytes.remove_prefix(inner.size());
            return rule != nullptr ? lengthDelimited(inner, *rule, depth) : Expected<void> {};
        }
        default:
            return damaged(); // groups: not in proto3, and the parser would recurse into unknown ones
        }
    }

    Expected<void> lengthDelimited(std::string_view inner, const FieldRule& rule, int depth)
    {
        if (rule.fieldClass == FieldClass::Packed) {
            const auto ends = std::count_if(inner.begin(), inner.end(), [](char c) { return (c & 0x80) == 0; });
            return addElements(static_cast<std::size_t>(ends));
        }
        if (++m_submessages > limits::kMaxSubmessages)
            return failure(ErrorCode::TooLarge, "message has too many parts");
        return rule.fieldClass == FieldClass::Message ? scan(inner, rule.shape, depth + 1) : Expected<void> {};
    }

    Expected<void> addElements(std::size_t n)
    {
        m_elements += n;
        if (m_elements > limits::kMaxPackedElements)
            return failure(ErrorCode::TooLarge, "message has too many packed elements");
        return {};
    }

    std::size_t m_submessages = 0;
    std::size_t m_elements = 0;
};

Expected<void> prescan(std::string_view bytes, Shape shape)
{
    if (bytes.size() > limits::kMaxMessageBytes)
        return failure(
            ErrorCode::TooLarge, "message is larger than " + std::to_string(limits::kMaxMessageBytes) + " bytes");
    return Scanner {}.scan(bytes, shape, 1);
}

}

Expected<void> prescanEnvelope(std::string_view bytes)
{
    return prescan(bytes, Shape::Envelope);
}

Expected<void> prescanPayload(std::string_view bytes)
{
    return prescan(bytes, Shape::Payload);
}

}
