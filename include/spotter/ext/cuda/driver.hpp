// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the part of CUDA's driver API that is used, loaded at run time and declared here: building needs no header
// and no library of NVIDIA.
#pragma once

#include <spotter/core/result.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// Names, arguments and meanings follow NVIDIA's documentation, "CUDA Driver API". 0 is success. The constructor opens
// the library and the destructor closes it; not copyable.
class cuda_driver {
public:
    using context = struct cuda_context*;
    using module = struct cuda_module*;
    using function = struct cuda_function*;
    using stream = void*;
    using event = struct cuda_event*;
    using address = std::uint64_t;  // a device address

    enum code : int {
        success = 0,
        invalid_value = 1,
        no_memory = 2,
        deinitialized = 4,
        no_card = 100,
        invalid_context = 201,
        unsupported_ptx = 222,
        not_found = 500,
        not_ready = 600,
        illegal_address = 700,
        context_destroyed = 709,
    };
    enum attribute : int { compute_major = 75, processors = 16, memory_type = 2, ordinal_of = 9 };
    static constexpr unsigned without_timing = 2, not_blocking = 1, portable_and_mapped = 3;

    // The oldest driver that can compile the kernels' text (PTX 6.0): CUDA 9.0.
    static constexpr int oldest = 9000;

    explicit cuda_driver(char const* library) noexcept;
    cuda_driver(cuda_driver const&) = delete;
    cuda_driver& operator=(cuda_driver const&) = delete;
    ~cuda_driver();

    // Why it cannot be used; no error: it can.
    [[nodiscard]] error const& lack() const noexcept { return lack_; }
    // The name of an error code; empty if unknown.
    [[nodiscard]] char const* name_of(int result) const noexcept;

    int (*init)(unsigned) = nullptr;
    int (*driver_version)(int*) = nullptr;
    int (*error_name)(int, char const**) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_get)(int*, int) = nullptr;
    int (*device_attribute)(int*, int, int) = nullptr;
    int (*retain_primary)(context*, int) = nullptr;
    int (*release_primary)(int) = nullptr;
    int (*current)(context*) = nullptr;
    int (*device_of_current)(int*) = nullptr;
    int (*push)(context) = nullptr;
    int (*pop)(context*) = nullptr;
    int (*load_module)(module*, void const*) = nullptr;
    int (*unload_module)(module) = nullptr;
    int (*get_function)(function*, module, char const*) = nullptr;
    int (*make_stream)(stream*, unsigned) = nullptr;
    int (*end_stream)(stream) = nullptr;
    int (*is_capturing)(stream, int*) = nullptr;
    int (*wait_in_stream)(stream, event, unsigned) = nullptr;
    int (*make_event)(event*, unsigned) = nullptr;
    int (*end_event)(event) = nullptr;
    int (*record)(event, stream) = nullptr;
    int (*query)(event) = nullptr;
    int (*elapsed)(float*, event, event) = nullptr;  // milliseconds
    int (*take_memory)(address*, std::size_t) = nullptr;
    int (*give_back)(address) = nullptr;
    int (*take_pinned)(void**, std::size_t, unsigned) = nullptr;
    int (*give_back_pinned)(void*) = nullptr;
    int (*copy_here)(void*, address, std::size_t, stream) = nullptr;
    int (*copy_there)(address, address, std::size_t, stream) = nullptr;
    int (*pointer_attribute)(void*, int, address) = nullptr;
    int (*range_of)(address*, std::size_t*, address) = nullptr;
    int (*launch)(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream, void**,
                  void**) = nullptr;

private:
    void load_all() noexcept;
    template <class Call>
    void load(Call& call, char const* name) noexcept;

    void* library_ = nullptr;
    error lack_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
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
#endif
