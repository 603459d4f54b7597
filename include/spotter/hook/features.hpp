// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the features of the observation at hand: by key for the rules that share them, and on their way to the sink.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Takes memory only for more, or longer ones, than there ever were.
class feature_list {
public:
    void clear() noexcept { count_ = used_ = 0; }
    // False where memory is exhausted; then it is not in the list.
    [[nodiscard]] bool add(std::uint64_t key, std::span<double const> numbers) noexcept;
    // Null where there is none. Valid until the next `add`.
    [[nodiscard]] std::span<double const> const* find(std::uint64_t key) noexcept;

private:
    struct piece {  // of numbers_
        std::uint64_t key = 0;
        std::size_t at = 0, size = 0;
        std::span<double const> numbers{};
    };
    slots<piece> pieces_;
    slots<double> numbers_;
    std::size_t count_ = 0, used_ = 0;
};

// The desk that a hook lends: the values are in memory, and what is kept goes to the sink at once, before its observation.
template <class Sink>
class live_desk final : public feature_desk {
public:
    // For one observation. The arguments are used until the next one.
    [[nodiscard]] feature_desk* lend(Sink& sink, tensor_info const& tensor, step_id step,
                                     tensor_ref const& values) noexcept {
        made_.clear();
        sink_ = &sink;
        tensor_ = &tensor;
        step_ = step;
        values_ = values;
        return this;
    }
    [[nodiscard]] std::span<double const> const* find(std::uint64_t key) noexcept override { return made_.find(key); }
    [[nodiscard]] tensor_ref values() noexcept override { return values_; }
    void keep(std::uint64_t key, std::span<double const> numbers) noexcept override {
        // Who comes next would make it again, and a record has it once: without memory it is in neither.
        if (!made_.add(key, numbers)) { return lack(); }
        sink_->feature(*tensor_, step_, key, numbers);
    }
    void lack() noexcept override { lacks_memory_ = true; }
    [[nodiscard]] error trouble() const noexcept {
        if (!lacks_memory_) { return {}; }
        return {errc::out_of_memory,
                "no memory for what a rule extracts of values; it does not see the tensor, or a replay does not"};
    }

private:
    feature_list made_;
    Sink* sink_ = nullptr;
    tensor_info const* tensor_ = nullptr;
    step_id step_{};
    tensor_ref values_{};
    bool lacks_memory_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/features.ipp>
#endif
