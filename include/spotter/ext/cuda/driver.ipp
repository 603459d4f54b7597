// SPDX-License-Identifier: Apache-2.0
// The bodies of driver.hpp.
#pragma once

#include <spotter/ext/cuda/driver.hpp>

#include <bit>

#if defined(_WIN32)
#include <spotter/file/windows_api.hpp>
#else
#include <dlfcn.h>
#endif

namespace spotter::inline SPOTTER_ABI::detail {

#if defined(_WIN32)
[[nodiscard]] inline void* open_library(char const* name) noexcept {
    return reinterpret_cast<void*>(::LoadLibraryA(name));
}
inline void close_library(void* it) noexcept { (void)::FreeLibrary(reinterpret_cast<HMODULE>(it)); }
[[nodiscard]] inline void* symbol_of(void* it, char const* name) noexcept {
    return std::bit_cast<void*>(::GetProcAddress(reinterpret_cast<HMODULE>(it), name));
}
inline constexpr char cuda_library[] = "nvcuda.dll";
#else
[[nodiscard]] inline void* open_library(char const* name) noexcept { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }
inline void close_library(void* it) noexcept { (void)::dlclose(it); }
[[nodiscard]] inline void* symbol_of(void* it, char const* name) noexcept { return ::dlsym(it, name); }
inline constexpr char cuda_library[] = "libcuda.so.1";
#endif

template <class Call>
void cuda_driver::load(Call& call, char const* name) noexcept {
    static_assert(sizeof(Call) == sizeof(void*));
    call = std::bit_cast<Call>(symbol_of(library_, name));
    if (call != nullptr || lack_) { return; }
    lack_.code = errc::no_device;
    lack_.what << "CUDA's driver has no " << name << ": it is too old";
}

SPOTTER_BODY void cuda_driver::load_all() noexcept {
    load(init, "cuInit");
    load(driver_version, "cuDriverGetVersion");
    load(error_name, "cuGetErrorName");
    load(device_count, "cuDeviceGetCount");
    load(device_get, "cuDeviceGet");
    load(device_attribute, "cuDeviceGetAttribute");
    load(retain_primary, "cuDevicePrimaryCtxRetain");
    load(release_primary, "cuDevicePrimaryCtxRelease_v2");
    load(current, "cuCtxGetCurrent");
    load(device_of_current, "cuCtxGetDevice");
    load(push, "cuCtxPushCurrent_v2");
    load(pop, "cuCtxPopCurrent_v2");
    load(load_module, "cuModuleLoadData");
    load(unload_module, "cuModuleUnload");
    load(get_function, "cuModuleGetFunction");
    load(make_stream, "cuStreamCreate");
    load(end_stream, "cuStreamDestroy_v2");
    load(is_capturing, "cuStreamIsCapturing");
    load(wait_in_stream, "cuStreamWaitEvent");
    load(make_event, "cuEventCreate");
    load(end_event, "cuEventDestroy_v2");
    load(record, "cuEventRecord");
    load(query, "cuEventQuery");
    load(elapsed, "cuEventElapsedTime");
    load(take_memory, "cuMemAlloc_v2");
    load(give_back, "cuMemFree_v2");
    load(take_pinned, "cuMemHostAlloc");
    load(give_back_pinned, "cuMemFreeHost");
    load(copy_here, "cuMemcpyDtoHAsync_v2");
    load(copy_there, "cuMemcpyDtoDAsync_v2");
    load(pointer_attribute, "cuPointerGetAttribute");
    load(range_of, "cuMemGetAddressRange_v2");
    load(launch, "cuLaunchKernel");
}

SPOTTER_BODY cuda_driver::cuda_driver(char const* library) noexcept {
    char const* const name = library != nullptr ? library : cuda_library;
    library_ = open_library(name);
    if (library_ == nullptr) {
        lack_.code = errc::no_device;
        lack_.what << name << ", CUDA's driver, cannot be opened: tensors of a device are refused";
        return;
    }
    load_all();
    int version = 0;
    if (lack_) { return; }
    if (int const result = init(0); result != success) {
        lack_.code = errc::no_device;
        lack_.what << "cuInit: " << name_of(result) << " (" << result << ')';
    } else if (driver_version(&version) != success || version < oldest) {
        lack_.code = errc::no_device;
        lack_.what << "CUDA's driver is of version " << version << ", and the kernels need " << oldest;
    }
}

SPOTTER_BODY cuda_driver::~cuda_driver() {
    if (library_ != nullptr) { close_library(library_); }
}

SPOTTER_BODY char const* cuda_driver::name_of(int result) const noexcept {
    char const* name = nullptr;
    return error_name != nullptr && error_name(result, &name) == success && name != nullptr ? name : "";
}

}  // namespace spotter::inline SPOTTER_ABI::detail
