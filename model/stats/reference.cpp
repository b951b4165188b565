// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/stats.h>

#include <cmath>
#include <limits>

#include <telltale/core/nothrow.h>

#include "checksumblock.h"
#include "finish.h"

namespace {

/// Neumaier's compensated sum.
class Compensated {
public:
    void add(long double x)
    {
        const long double t = m_sum + x;
        m_rest += std::fabs(m_sum) >= std::fabs(x) ? (m_sum - t) + x : (x - t) + m_sum;
        m_sum = t;
    }
    double value() const { return static_cast<double>(m_sum + m_rest); }

private:
    long double m_sum = 0;
    long double m_rest = 0;
};

template <typename T> void reference(const tt_tensor& tensor, double eps, tt_stats& result)
{
    using namespace telltale::stats;
    Compensated sum;
    Compensated sumsq;
    BlockPartial counts;
    clear(counts);
    const Eps limits { eps, 0 };
    const T* p = static_cast<const T*>(tensor.data);
    Totals totals;
    for (std::uint64_t i = 0; i < tensor.numel; ++i) {
        const double x = widen(p[i]);
        clear(counts);
        addExact(x, limits, counts);
        counts.checksum = checksumBlock<T>(p, i, 1);
        totals.add(counts);
        if (std::isfinite(x)) {
            sum.add(static_cast<long double>(x));
            sumsq.add(static_cast<long double>(x) * static_cast<long double>(x));
        }
    }
    totals.sum = sum.value();
    totals.sumsq = sumsq.value();
    totals.finish(tensor.numel, tensor.dtype, result);
}

int measure(const tt_tensor* tensor, double eps, tt_stats* result)
{
    using namespace telltale::stats;
    *result = {};
    if (tensor->data == nullptr && tensor->numel > 0)
        return -1;
    switch (tensor->dtype & ~TT_WITH_CHECKSUM) {
    case TT_F32:
        reference<float>(*tensor, eps, *result);
        return 0;
    case TT_F64:
        reference<double>(*tensor, eps, *result);
        return 0;
    case TT_F16:
        reference<Half>(*tensor, eps, *result);
        return 0;
    case TT_BF16:
        reference<BFloat>(*tensor, eps, *result);
        return 0;
    case TT_I8:
        reference<std::int8_t>(*tensor, eps, *result);
        return 0;
    case TT_U8:
        reference<std::uint8_t>(*tensor, eps, *result);
        return 0;
    case TT_I16:
        reference<std::int16_t>(*tensor, eps, *result);
        return 0;
    case TT_I32:
        reference<std::int32_t>(*tensor, eps, *result);
        return 0;
    case TT_I64:
        reference<std::int64_t>(*tensor, eps, *result);
        return 0;
    case TT_BOOL:
        reference<Boolean>(*tensor, eps, *result);
        return 0;
    default:
        return -1;
    }
}

}

extern "C" int tt_stats_reference(const tt_tensor* tensor, double eps, tt_stats* result)
{
    return telltale::withoutThrowing([&] { return measure(tensor, eps, result); });
}
