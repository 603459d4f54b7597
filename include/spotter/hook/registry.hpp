// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the tensors of a run: name to dense id and back. The only place of the hook that allocates, once a name.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/hook/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// Open addressing by hash; a loop that names its tensors in the same order every step never hashes.
class registry {
public:
    registry() noexcept = default;
    registry(registry const&) = delete;
    registry& operator=(registry const&) = delete;
    ~registry();

    // The tensor of that name, made if it is new; null where memory is exhausted. A loop names its tensors in the same order every step:
    // what came behind the last one before is compared first. Which that is stands apart, so that no tensor is waited for to know it.
    [[nodiscard]] tracked_tensor* find_or_add(std::string_view name) noexcept {
        if (count_ == 0) { return find_elsewhere(name); }
        tensor_id const expected = next_[last_];
        if (!tensors_[expected]->name.is(name)) { return find_elsewhere(name); }
        last_ = expected;
        return tensors_[expected];
    }

    // The tensor whose name is the two parts together.
    [[nodiscard]] tracked_tensor* find(std::string_view name, std::string_view rest = {}) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] tracked_tensor& operator[](std::size_t id) noexcept { return *tensors_[id]; }
    [[nodiscard]] tracked_tensor const& operator[](std::size_t id) const noexcept { return *tensors_[id]; }

    // Calls use(refused_tensor) for each name that was refused.
    template <class Use>
    void each_refused(Use&& use) const {
        for (std::size_t i = 0; i < count_; ++i) {
            tracked_tensor const& it = *tensors_[i];
            if (it.times_refused > 0) { use(refused_tensor{it.name, it.refused.code, it.refused.sentence, it.times_refused}); }
        }
    }
    // Calls tell(std::string_view) with a line for each of them.
    template <class Tell>
    void tell_refused(Tell&& tell) const {
        // By number: what tells may be the first to name its text.
        for (std::size_t i = 0, known = count_; i < known; ++i) {
            tracked_tensor const& it = *tensors_[i];
            if (it.times_refused == 0) { continue; }
            text<480> line;
            line << '"' << it.name.view() << "\" " << it.refused.sentence;
            if (it.times_refused > 1) { line << " (" << it.times_refused << " times)"; }
            tell(line.view());
        }
    }

    // The first tensor that there was too little memory for.
    [[nodiscard]] error lack() const noexcept;

    // Ties a gradient to what it is the gradient of, and a loss or metric in evaluation to the one in training, whichever is declared
    // first. Returns a partner that has been declared before and knows more now; null once there is none.
    [[nodiscard]] tracked_tensor* bind_partner(tracked_tensor& fresh) noexcept;

private:
    // By its hash.
    [[nodiscard]] tracked_tensor* find_elsewhere(std::string_view name) noexcept;
    [[nodiscard]] tracked_tensor* bind_evaluation(tracked_tensor& fresh) noexcept;
    // Whether either knows more now.
    static bool tie(tracked_tensor& gradient, tracked_tensor& target) noexcept;

    // Null where memory is exhausted; nothing is changed then.
    [[nodiscard]] tracked_tensor* add(std::string_view name) noexcept;
    [[nodiscard]] bool rehash(std::size_t size) noexcept;
    void insert(tracked_tensor* it) noexcept;

    slots<tracked_tensor*> tensors_{};  // the first `count_` are owned
    slots<tracked_tensor*> table_{};    // a power of two of them
    std::size_t count_ = 0;
    slots<tensor_id> next_{};  // what was named behind a tensor the last time; behind a new one, the first
    tensor_id last_ = 0;       // was named
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/registry.ipp>
#endif
