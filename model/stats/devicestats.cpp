// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/devicestats.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <telltale/core/nothrow.h>

#include "cudadriver.h"
#include "devicekernel.h"

extern const char telltale_device_kernels[]; // devicekernel.ptx

namespace telltale::stats {

namespace {

using Result = CudaDriver::Result;

thread_local char deviceTrouble[256] = "";

int refuse(const char* what, Result why = 0)
{
    const char* name = "";
    const CudaDriver* driver = CudaDriver::get();
    if (why == 0)
        std::snprintf(deviceTrouble, sizeof deviceTrouble, "%s", what);
    else if (driver && driver->errorName(why, &name) == 0)
        std::snprintf(deviceTrouble, sizeof deviceTrouble, "%s failed with %s", what, name);
    else
        std::snprintf(deviceTrouble, sizeof deviceTrouble, "%s failed with error %d", what, why);
    return -1;
}

int failed(const char* why) noexcept
{
    return refuse(why);
}

/// A stream's own space for what blocks found: launches on one stream follow each other, so they share it.
struct Scratch {
    CudaDriver::Stream stream;
    CudaDriver::Pointer partials;
    CudaDriver::Pointer tickets; ///< 0 between launches
    CudaDriver::Pointer counts; ///< of histograms; likewise
};

// Of one launch, which is full when its table is: 4 MiB a stream, so that large tensors share launches too.
constexpr std::size_t kScratchBlocks = TT_DEVICE_BLOCKS * TT_DEVICE_TENSORS;
constexpr std::size_t kPartialBytes = kScratchBlocks * sizeof(tt_device_partial);
constexpr std::size_t kTicketBytes = TT_DEVICE_TENSORS * sizeof(unsigned);
constexpr std::size_t kCountBytes = TT_DEVICE_TENSORS * TT_DEVICE_BINS * sizeof(std::uint64_t);
static_assert(TT_DEVICE_BINS == TT_BINS && kTicketBytes % sizeof(std::uint64_t) == 0);

/// One card. Made once and never ended: the driver may be gone before the process's last destructors run.
struct Card {
    const CudaDriver* driver;
    CudaDriver::Context context = nullptr;
    CudaDriver::Function stats = nullptr;
    CudaDriver::Function fullStats = nullptr; ///< with checksums and histograms
    CudaDriver::Function agreement = nullptr;
    std::mutex mutex; ///< of scratches
    std::vector<Scratch> scratches;

    /// The context for a scope.
    class Current {
    public:
        explicit Current(const Card& card)
            : m_driver(*card.driver)
            , m_isPushed(m_driver.push(card.context) == 0)
        {
        }
        ~Current()
        {
            CudaDriver::Context before = nullptr;
            if (m_isPushed)
                m_driver.pop(&before);
        }
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        const CudaDriver& m_driver;
        bool m_isPushed;
    };

    /// Allocating, or asking for an event, would spoil a graph that another thread captures; for a scope it does not.
    class BesideCapture {
    public:
        explicit BesideCapture(const Card& card)
            : m_driver(*card.driver)
        {
            m_driver.exchangeCaptureMode(&m_mode);
        }
        ~BesideCapture() { m_driver.exchangeCaptureMode(&m_mode); }
        BesideCapture(const BesideCapture&) = delete;
        BesideCapture& operator=(const BesideCapture&) = delete;

    private:
        const CudaDriver& m_driver;
        int m_mode = 2; // CU_STREAM_CAPTURE_MODE_RELAXED
    };

    bool open(int ordinal)
    {
        CudaDriver::Device device = 0;
        CudaDriver::Module module = nullptr;
        Result why = driver->init(0);
        if (why == 0)
            why = driver->deviceGet(&device, ordinal);
        if (why == 0)
            why = driver->primaryContext(&context, device);
        if (why == 0) {
            const Current current(*this);
            const BesideCapture beside(*this);
            why = driver->loadModule(&module, telltale_device_kernels);
            if (why == 0)
                why = driver->functionOf(&stats, module, "telltale_stats");
            if (why == 0)
                why = driver->functionOf(&fullStats, module, "telltale_full_stats");
            if (why == 0)
                why = driver->functionOf(&agreement, module, "telltale_sign_agreement");
        }
        return why == 0 || refuse("loading the statistics kernels onto the device", why) == 0;
    }

    /// nullptr where the device has no memory left. In the scope of a Current.
    const Scratch* scratchOf(CudaDriver::Stream stream)
    {
        const std::lock_guard lock(mutex);
        for (const Scratch& scratch : scratches) {
            if (scratch.stream == stream)
                return &scratch;
        }
        const BesideCapture beside(*this);
        Scratch fresh { stream, 0, 0, 0 };
        scratches.reserve(kMostStreams);
        if (scratches.size() == kMostStreams
            || driver->allocate(&fresh.partials, kPartialBytes + kTicketBytes + kCountBytes) != 0)
            return nullptr;
        fresh.tickets = fresh.partials + kPartialBytes;
        fresh.counts = fresh.tickets + kTicketBytes;
        if (driver->setBytes(fresh.tickets, 0, kTicketBytes + kCountBytes, stream) != 0)
            return nullptr;
        scratches.push_back(fresh);
        return &scratches.back();
    }

    static constexpr std::size_t kMostStreams = 256; ///< torch has 65; the vector never moves
};

constexpr int kMostCards = 64;
std::array<std::atomic<Card*>, kMostCards> theCards;

Card* cardOf(int device)
{
    return device >= 0 && device < kMostCards ? theCards[static_cast<std::size_t>(device)].load() : nullptr;
}

std::uint32_t blocksOf(std::uint64_t numel)
{
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(numel / TT_DEVICE_BLOCK_ELEMENTS, 1, TT_DEVICE_BLOCKS));
}

float narrowed(double eps)
{
    const auto narrow = static_cast<float>(eps);
    return static_cast<double>(narrow) >= eps ? narrow : std::nextafter(narrow, std::numeric_limits<float>::infinity());
}

/// Collects tensors and launches them together, as many as one launch takes.
class Launch {
public:
    Launch(Card& card, CudaDriver::Function function, double eps, void* stream)
        : m_card(card)
        , m_function(function)
        , m_stream(static_cast<CudaDriver::Stream>(stream))
        , m_current(card)
    {
        m_jobs.eps = eps;
        m_jobs.narrow_eps = narrowed(eps);
    }

    int start()
    {
        int isCapturing = 0;
        if (const Result why = m_card.driver->isCapturing(m_stream, &isCapturing); why != 0)
            return refuse("asking for the state of a stream", why);
        if (isCapturing != 0)
            return 1;
        m_scratch = m_card.scratchOf(m_stream);
        return m_scratch ? 0 : refuse("the device has no memory left for the statistics kernels");
    }

    int add(tt_device_job job)
    {
        job.blocks = blocksOf(job.numel);
        if (m_jobs.count == TT_DEVICE_TENSORS || m_blocks + job.blocks > kScratchBlocks) {
            if (const int status = flush(); status != 0)
                return status;
        }
        job.first_block = m_blocks;
        m_blocks += job.blocks;
        m_jobs.job[m_jobs.count++] = job;
        return 0;
    }

    int flush()
    {
        if (m_jobs.count == 0)
            return 0;
        CudaDriver::Pointer partials = m_scratch->partials;
        CudaDriver::Pointer tickets = m_scratch->tickets;
        CudaDriver::Pointer counts = m_scratch->counts;
        void* parameters[] = { &m_jobs, &partials, &tickets, &counts }; // a kernel takes as many as it has
        const Result why = m_card.driver->launch(
            m_function, m_blocks, 1, 1, TT_DEVICE_THREADS, 1, 1, 0, m_stream, parameters, nullptr);
        m_jobs.count = 0;
        m_blocks = 0;
        return why == 0 ? 0 : refuse("starting a statistics kernel", why);
    }

private:
    Card& m_card;
    CudaDriver::Function m_function;
    CudaDriver::Stream m_stream;
    Card::Current m_current;
    const Scratch* m_scratch = nullptr;
    tt_device_jobs m_jobs {};
    std::uint32_t m_blocks = 0;
};

bool isReadable(const tt_tensor& tensor, std::uint32_t lastDtype)
{
    return tensor.data && tensor.dtype >= TT_F32 && tensor.dtype <= lastDtype;
}

int measure(int device, const tt_tensor* tensors, std::size_t count, double eps, tt_stats* const* results,
    std::uint64_t* const* bins, void* stream)
{
    Card* card = cardOf(device);
    if (!card)
        return refuse("the device was not opened");
    const bool isFull = bins || std::any_of(tensors, tensors + count, [](const tt_tensor& tensor) {
        return (tensor.dtype & TT_WITH_CHECKSUM) != 0;
    });
    Launch launch(*card, isFull ? card->fullStats : card->stats, eps, stream);
    int status = launch.start();
    for (std::size_t i = 0; i < count && status == 0; ++i) {
        const tt_tensor& tensor = tensors[i];
        if (tensor.numel == 0)
            continue;
        status = isReadable({ tensor.data, tensor.numel, tensor.dtype & ~TT_WITH_CHECKSUM, 0 }, TT_BOOL)
            ? launch.add(
                { tensor.data, nullptr, results[i], bins ? bins[i] : nullptr, tensor.numel, tensor.dtype, 0, 0, 0 })
            : refuse("a tensor has no memory or an unknown dtype");
    }
    return status == 0 ? launch.flush() : status;
}

int agree(int device, const tt_tensor* a, const tt_tensor* b, std::size_t count, double* const* results, void* stream)
{
    Card* card = cardOf(device);
    if (!card)
        return refuse("the device was not opened");
    Launch launch(*card, card->agreement, 0, stream);
    int status = launch.start();
    for (std::size_t i = 0; i < count && status == 0; ++i) {
        if (a[i].numel == 0 && b[i].numel == 0)
            continue;
        status = isReadable(a[i], TT_BF16) && isReadable(b[i], TT_BF16) && a[i].numel == b[i].numel
            ? launch.add({ a[i].data, b[i].data, results[i], nullptr, a[i].numel, a[i].dtype, b[i].dtype, 0, 0 })
            : refuse("a pair of tensors differs in size or has no memory");
    }
    return status == 0 ? launch.flush() : status;
}

const char* open(int device)
{
    const CudaDriver* driver = CudaDriver::get();
    if (!driver || device < 0 || device >= kMostCards)
        return "there is no NVIDIA driver that this process could use";
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    auto& place = theCards[static_cast<std::size_t>(device)];
    if (place.load())
        return nullptr;
    auto card = std::make_unique<Card>();
    card->driver = driver;
    if (!card->open(device))
        return deviceTrouble;
    place = card.release();
    return nullptr;
}

void* mark(int device, void* stream)
{
    Card* card = cardOf(device);
    if (!card)
        return nullptr;
    const Card::Current current(*card);
    const Card::BesideCapture beside(*card); // asking is forbidden too
    CudaDriver::Event event = nullptr;
    if (const Result why = card->driver->createEvent(&event, CudaDriver::kNoTiming); why != 0) {
        refuse("making a mark on a stream", why);
        return nullptr;
    }
    if (const Result why = card->driver->record(event, static_cast<CudaDriver::Stream>(stream)); why != 0) {
        card->driver->destroyEvent(event);
        refuse("making a mark on a stream", why);
        return nullptr;
    }
    return event;
}

int passed(int device, void* given)
{
    Card* card = cardOf(device);
    if (!card || !given)
        return -1;
    auto* event = static_cast<CudaDriver::Event>(given);
    const Card::Current current(*card);
    const Card::BesideCapture beside(*card); // asking is forbidden too
    const Result why = card->driver->query(event);
    if (why == CudaDriver::kNotReady)
        return 0;
    card->driver->destroyEvent(event);
    return why == 0 ? 1 : refuse("waiting for a stream", why);
}

}

}

extern "C" {

const char* tt_device_open(int device)
{
    return telltale::withoutThrowing([&] { return telltale::stats::open(device); },
        [](const char*) noexcept { return "there is no memory for the statistics kernels"; });
}

int tt_device_stats(int device, const tt_tensor* tensors, size_t count, double eps, tt_stats* const* results,
    uint64_t* const* bins, void* stream)
{
    return telltale::withoutThrowing(
        [&] { return telltale::stats::measure(device, tensors, count, eps, results, bins, stream); },
        telltale::stats::failed);
}

int tt_device_stats_tensor(int device, const void* data, uint64_t numel, uint32_t dtype, double eps, tt_stats* result,
    uint64_t* bins, void* stream)
{
    const tt_tensor tensor { data, numel, dtype, 0 };
    return tt_device_stats(device, &tensor, 1, eps, &result, bins ? &bins : nullptr, stream);
}

int tt_device_sign_agreement(
    int device, const tt_tensor* a, const tt_tensor* b, size_t count, double* const* results, void* stream)
{
    return telltale::withoutThrowing(
        [&] { return telltale::stats::agree(device, a, b, count, results, stream); }, telltale::stats::failed);
}

void* tt_device_mark(int device, void* stream)
{
    return telltale::withoutThrowing([&] { return telltale::stats::mark(device, stream); });
}

int tt_device_passed(int device, void* mark)
{
    return telltale::withoutThrowing([&] { return telltale::stats::passed(device, mark); }, telltale::stats::failed);
}

const char* tt_device_trouble(void)
{
    return telltale::stats::deviceTrouble;
}
}
