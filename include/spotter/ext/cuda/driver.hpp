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
#include <spotter/ext/cuda/driver.ipp>
#endif
