// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a device (hook/device.hpp) by CUDA's driver.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/ext/cuda/driver.hpp>
#include <spotter/ext/cuda/task.hpp>
#include <spotter/hook/device.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a cuda_device may use. Memory is taken as it is needed, and kept.
struct cuda_options {
    int ordinal = 0;  // of the card, where the thread has no context
    // Page-locked memory of this processor for values that are due, of all steps under way; what does not fit is
    // refused.
    std::uint64_t values_bytes = 256ULL << 20;
    // Memory of the card for previous values, where somebody wants the change (terms::change). The change of what does
    // not fit is computed by this processor, of values that are copied for it.
    std::uint64_t change_bytes = 256ULL << 20;
    // The stream that the thread works in now, of tensors that come without one (DLPack, libtorch: &torch_stream of
    // ext/torch/cuda.hpp). Null: the default stream.
    void* (*current_stream)(int ordinal) noexcept = nullptr;
    char const* library = nullptr;  // the driver; null: libcuda.so.1, on Windows nvcuda.dll
};

// `cuda_device gpu; hook watch{"runs/a", keep, rules..., gpu.tensors()};`, and it outlives the hook. Works in the
// context that is current where the hook is made, else in the card's primary one, which CUDA's runtime and all
// frameworks have. Where there is no driver, no card or no memory, health() says so, tensors of a device are refused,
// and all else goes on.
//
// Kernels and copies are put into the stream that the tensor came with, behind the work in it, so that what comes later
// may overwrite or free the values. Only the fold over blocks goes into a stream of its own.
class cuda_device final : public device {
public:
    explicit cuda_device(cuda_options const& chosen = {}) noexcept;
    cuda_device(cuda_device const&) = delete;
    cuda_device& operator=(cuda_device const&) = delete;
    ~cuda_device();

    // For one hook at a time.
    [[nodiscard]] device_tensors tensors() noexcept { return {this}; }

    // What it did, for tests and the curious.
    struct work {
        std::uint64_t launches = 0;      // of the read: 64 tensors each, at most
        std::uint64_t tensors = 0;       // that were taken
        std::uint64_t copied_bytes = 0;  // of values, to this processor
        std::uint64_t waits = 0;         // of the loop's, for the card
    };
    // Since it was made.
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
    // Tensors of one launch. Its results are written to page-locked memory by the kernel itself.
    struct batch {
        detail::cuda_pass::task_list tasks{};
        unsigned count = 0;
        std::uint64_t blocks = 0;
        bool chains = false;  // some task wants a hash or a change
        detail::cuda_driver::stream stream = nullptr;
        detail::cuda_pass::result* results = nullptr;
        detail::cuda_driver::address partials = 0;
        std::uint64_t room = 0;                      // blocks of partials
        detail::cuda_driver::event taken = nullptr;  // the values were read
        bool failed = false;
    };
    struct pinned {
        std::byte* memory = nullptr;
        std::size_t bytes = 0, used = 0;
    };
    struct tensor {
        std::uint32_t batch = 0, at = 0;
        bool counted = false;                   // by a kernel; else there is nothing but values
        std::uint64_t count = 0;                // elements
        terms wanted = terms::none;             // of a kernel
        std::byte* values = nullptr;            // copied here
        detail::cuda_driver::address from = 0;  // and from there,
        std::size_t bytes = 0;                  // once it is launched
        detail::cuda_driver::address keep = 0;  // where its values are kept for the next change; 0: nowhere
        std::size_t kept = 0;                   // which of them that is
        std::uint64_t previous = 0;             // index of the step that it is held against,
        bool has_previous = false;              // if there is one
    };
    // The values of a tensor in one mode, at its last observation.
    struct kept_values {
        detail::cuda_driver::address memory = 0;
        std::size_t room = 0;     // bytes
        tensor_ref view{};        // type, shape and order
        std::uint64_t index = 0;  // of the step
        bool valid = false;
        bool elsewhere = false;  // there was no room: the hook has them
    };
    struct step {
        slot_array<batch> batches{};
        std::size_t batch_count = 0;
        bool open = false;  // the last batch still takes tensors
        slot_array<tensor> tensors{};
        std::size_t count = 0, launched = 0;  // of tensors
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
        // It is, and the device still answers.
        [[nodiscard]] explicit operator bool() const noexcept { return current_ && !of_.dead_; }

    private:
        cuda_device& of_;
        bool current_ = false, pushed_ = false;
    };

    // What a kernel takes of it.
    [[nodiscard]] static terms known_terms(dtype type) noexcept;
    [[nodiscard]] refusal_words look_at(device_values const& from, detail::cuda_driver::stream in) noexcept;
    // The open batch, or a new one; null where there is no memory.
    [[nodiscard]] batch* batch_for(std::size_t place, detail::cuda_driver::stream in) noexcept;
    [[nodiscard]] bool make(batch& it) noexcept;
    [[nodiscard]] std::byte* room_for(step& it, std::size_t bytes) noexcept;
    // Of a tensor whose change is wanted; false where the card has no room for it.
    [[nodiscard]] bool keep(device_values const& from, device_wish const& wish, tensor& taken) noexcept;
    void start(step& of, batch& it) noexcept;
    // All of it was put into the streams.
    [[nodiscard]] bool put(step& of, batch& it) noexcept;
    [[nodiscard]] static summary statistics_of(tensor const& of, detail::cuda_pass::result const& from) noexcept;
    // Notes what failed; true where it did not.
    bool fine(int result, char const* what) noexcept;
    void free_all() noexcept;

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
#include <spotter/ext/cuda/cuda_device.ipp>
#endif
