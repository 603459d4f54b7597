// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a device (hook/device.hpp) on CUDA's driver API.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/ext/cuda/task.hpp>
#include <spotter/hook/device.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// The part of CUDA's driver API that is used, loaded at run time and declared here: building needs no header and no
// library of NVIDIA. Names, arguments and meanings follow NVIDIA's documentation, "CUDA Driver API". 0 is success. The
// constructor opens the library and the destructor closes it; not copyable.
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

namespace spotter::inline SPOTTER_ABI {

// Limits and settings of a cuda_device. It allocates memory when needed and keeps it.
struct cuda_options {
    int ordinal = 0;  // of the card, if the thread has no context
    // Page-locked host memory for the values that are needed, for all steps in flight; values without room are refused.
    std::uint64_t values_bytes = 256ULL << 20;
    // Device memory for previous values, where a rule or collection needs the change (stats_mask::change). Without room
    // the values are copied, and the host computes the change.
    std::uint64_t change_bytes = 256ULL << 20;
    // Returns the thread's current stream, for tensors that come without one (DLPack, libtorch: &torch_stream of
    // ext/torch/cuda.hpp). Null: the default stream.
    void* (*current_stream)(int ordinal) noexcept = nullptr;
    char const* library = nullptr;  // path of the driver; null: libcuda.so.1, on Windows nvcuda.dll
};

// Use: `cuda_device gpu; hook watch{"runs/a", keep, rules..., gpu.tensors()};`. It must outlive the hook. It works in
// the context that is current where the hook is made, or else in the card's primary context, which CUDA's runtime and
// all frameworks use. Without a driver, a card or memory, health() reports it, tensors of the device are refused, and
// everything else works.
//
// Kernels and copies are put into the tensor's own stream, after the work that is in it, so later work may overwrite or
// free the values. Only the fold over blocks runs in a separate stream.
class cuda_device final : public device {
public:
    explicit cuda_device(cuda_options const& chosen = {}) noexcept;
    cuda_device(cuda_device const&) = delete;
    cuda_device& operator=(cuda_device const&) = delete;
    ~cuda_device();

    // For one hook at a time.
    [[nodiscard]] device_tensors tensors() noexcept { return {this}; }

    // Counts of its work, for tests.
    struct work {
        std::uint64_t launches = 0;      // of the reading kernel, at most 64 tensors each
        std::uint64_t tensors = 0;       // accepted ones
        std::uint64_t copied_bytes = 0;  // of values, to the host
        std::uint64_t waits = 0;         // times that the loop waited for the card
    };
    // Since construction.
    [[nodiscard]] work const& done() const noexcept { return work_; }

    [[nodiscard]] error begin() noexcept override;
    void end() noexcept override;
    [[nodiscard]] refusal_words take(std::size_t place, device_values const& from, device_wish const& wish,
                                     std::uint32_t& number) noexcept override;
    void launch(std::size_t place) noexcept override;
    void close(std::size_t place) noexcept override;
    [[nodiscard]] bool mark(std::size_t place, void* stream, std::uint32_t& number) noexcept override;
    [[nodiscard]] double seconds(std::size_t place, std::uint32_t from, std::uint32_t to) noexcept override;
    [[nodiscard]] device_state look(std::size_t place) noexcept override;
    [[nodiscard]] device_state wait(std::size_t place, double seconds) noexcept override;
    [[nodiscard]] device_answer answer(std::size_t place, std::uint32_t number) noexcept override;
    void release(std::size_t place) noexcept override;
    void add_troubles(failure_list& into) const noexcept override;

private:
    // The tensors of one launch. The kernel itself writes the results to page-locked memory.
    struct batch {
        detail::cuda_pass::task_list tasks{};
        unsigned count = 0;
        std::uint64_t blocks = 0;
        bool chains = false;  // some task needs a hash or a change
        detail::cuda_driver::stream stream = nullptr;
        detail::cuda_pass::result* results = nullptr;
        detail::cuda_driver::address partials = 0;
        std::uint64_t room = 0;                      // capacity in blocks of partials
        detail::cuda_driver::event taken = nullptr;  // recorded when the values have been read
        bool failed = false;
    };
    struct pinned {
        std::byte* memory = nullptr;
        std::size_t bytes = 0, used = 0;
    };
    struct tensor {
        std::uint32_t batch = 0, at = 0;
        bool counted = false;                   // read by a kernel; otherwise only its values are copied
        std::uint64_t count = 0;                // elements
        stats_mask wanted = stats_mask::none;   // terms for the kernel
        std::byte* values = nullptr;            // destination of the copy, on the host
        detail::cuda_driver::address from = 0;  // source of the copy,
        std::size_t bytes = 0;                  // valid once it is launched
        detail::cuda_driver::address keep = 0;  // device memory where its values are kept for the next change; 0: none
        std::size_t kept = 0;                   // index of that entry
        std::uint64_t previous = 0;             // index of the step that it is compared with,
        bool has_previous = false;              // if there is one
    };
    // A tensor's values in one mode, at its last observation.
    struct kept_values {
        detail::cuda_driver::address memory = 0;
        std::size_t room = 0;     // bytes
        tensor_ref view{};        // type, shape and order
        std::uint64_t index = 0;  // of the step
        bool valid = false;
        bool elsewhere = false;  // without room: the hook keeps them
    };
    struct step {
        slot_array<batch> batches{};
        std::size_t batch_count = 0;
        bool open = false;  // the last batch still accepts tensors
        slot_array<tensor> tensors{};
        std::size_t count = 0, launched = 0;  // numbers of tensors
        slot_array<pinned> memory{};
        std::size_t memory_count = 0;
        slot_array<detail::cuda_driver::event> moments{};
        std::size_t moment_count = 0;
        detail::cuda_driver::event done = nullptr;
        bool closed = false;
    };
    // Makes the context current for a call.
    class here {
    public:
        explicit here(cuda_device& of) noexcept;
        here(here const&) = delete;
        here& operator=(here const&) = delete;
        ~here();
        // The context is current, and the device still responds.
        [[nodiscard]] explicit operator bool() const noexcept { return current_ && !of_.dead_; }

    private:
        cuda_device& of_;
        bool current_ = false, pushed_ = false;
    };

    // The terms that a kernel computes for a type.
    [[nodiscard]] static stats_mask known_terms(dtype type) noexcept;
    [[nodiscard]] refusal_words look_at(device_values const& from, detail::cuda_driver::stream in) noexcept;
    // The open batch, or a new one; null where memory is lacking.
    [[nodiscard]] batch* batch_for(std::size_t place, detail::cuda_driver::stream in) noexcept;
    [[nodiscard]] bool make(batch& it) noexcept;
    [[nodiscard]] bool make_room(batch& it) noexcept;
    [[nodiscard]] std::byte* room_for(step& it, std::size_t bytes) noexcept;
    // For a tensor whose change is needed; false where the card has no room.
    [[nodiscard]] bool keep(device_values const& from, device_wish const& wish, tensor& taken) noexcept;
    void start(step& of, batch& it) noexcept;
    // Whether everything was put into the streams.
    static void add_task(tensor const& it, dtype type, batch& to) noexcept;
    [[nodiscard]] bool put(step& of, batch& it) noexcept;
    [[nodiscard]] bool copy(tensor const& it, detail::cuda_driver::stream in) noexcept;
    [[nodiscard]] static summary statistics_of(tensor const& of, detail::cuda_pass::result const& from) noexcept;
    // Records an error; true if there is none.
    bool fine(int result, char const* what) noexcept;
    void free_all() noexcept;
    void free(step& it) noexcept;
    [[nodiscard]] bool find_context(int& cards) noexcept;
    [[nodiscard]] bool load_kernels() noexcept;

    cuda_options chosen_;
    detail::cuda_driver driver_;
    detail::cuda_driver::context context_ = nullptr;
    detail::cuda_driver::module modules_[3]{};
    detail::cuda_driver::function blocks_ = nullptr, fold_ = nullptr, chains_ = nullptr;
    detail::cuda_driver::stream side_ = nullptr;
    int card_ = 0;
    unsigned grid_ = 1;
    bool primary_ = false, used_ = false, dead_ = false;
    std::uint64_t pinned_bytes_ = 0, kept_bytes_ = 0;
    slot_array<kept_values> kept_{};  // by tensor and mode
    step steps_[device::steps]{};
    work work_{};
    failure_list failures_{};
};

}  // namespace spotter::inline SPOTTER_ABI

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

#include <spotter/ext/cuda/cuda_device.ipp>
#endif
