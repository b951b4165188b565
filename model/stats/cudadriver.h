// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace telltale::stats {

/// The part of NVIDIA's driver interface (cuda.h) that the kernels need, found at run time.
struct CudaDriver {
    using Result = int; // CUresult, 0 = success
    using Device = int;
    using Context = struct CUctx_st*;
    using Module = struct CUmod_st*;
    using Function = struct CUfunc_st*;
    using Stream = struct CUstream_st*;
    using Event = struct CUevent_st*;
    using Pointer = unsigned long long; // CUdeviceptr

    static constexpr Result kNotReady = 600;
    static constexpr unsigned kNoTiming = 2; // CU_EVENT_DISABLE_TIMING

    Result (*init)(unsigned flags);
    Result (*deviceGet)(Device*, int ordinal);
    Result (*primaryContext)(Context*, Device);
    Result (*push)(Context);
    Result (*pop)(Context*);
    Result (*loadModule)(Module*, const void* text);
    Result (*functionOf)(Function*, Module, const char* name);
    Result (*allocate)(Pointer*, std::size_t bytes);
    Result (*setBytes)(Pointer, unsigned char value, std::size_t bytes, Stream);
    Result (*launch)(Function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
        unsigned blockZ, unsigned sharedBytes, Stream, void** parameters, void** extra);
    Result (*isCapturing)(Stream, int* status);
    Result (*exchangeCaptureMode)(int* mode);
    Result (*createEvent)(Event*, unsigned flags);
    Result (*record)(Event, Stream);
    Result (*query)(Event);
    Result (*destroyEvent)(Event);
    Result (*errorName)(Result, const char**);

    /// nullptr where there is no driver, or none that has all of these. Thread: any.
    static const CudaDriver* get();
};

}
