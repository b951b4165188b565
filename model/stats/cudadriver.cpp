// SPDX-License-Identifier: GPL-3.0-or-later
#include "cudadriver.h"

#include <type_traits>

#include <dlfcn.h>

namespace telltale::stats {

namespace {

struct Loaded {
    CudaDriver driver {};
    bool isWhole = false;

    Loaded()
    {
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return;
        isWhole = true;
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
            isWhole = isWhole && function;
        };
        find(driver.init, "cuInit");
        find(driver.deviceGet, "cuDeviceGet");
        find(driver.primaryContext, "cuDevicePrimaryCtxRetain");
        find(driver.push, "cuCtxPushCurrent_v2");
        find(driver.pop, "cuCtxPopCurrent_v2");
        find(driver.loadModule, "cuModuleLoadData");
        find(driver.functionOf, "cuModuleGetFunction");
        find(driver.allocate, "cuMemAlloc_v2");
        find(driver.setBytes, "cuMemsetD8Async");
        find(driver.launch, "cuLaunchKernel");
        find(driver.isCapturing, "cuStreamIsCapturing");
        find(driver.exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
        find(driver.createEvent, "cuEventCreate");
        find(driver.record, "cuEventRecord");
        find(driver.query, "cuEventQuery");
        find(driver.destroyEvent, "cuEventDestroy_v2");
        find(driver.errorName, "cuGetErrorName");
    }
};

}

const CudaDriver* CudaDriver::get()
{
    static const Loaded loaded;
    return loaded.isWhole ? &loaded.driver : nullptr;
}

}
