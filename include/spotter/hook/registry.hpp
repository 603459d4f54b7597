// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the tensors of a run: maps names to dense ids. The only part of a hook that allocates: once for each name.
#pragma once

#include <spotter/config.hpp>
#include <spotter/hook/health.hpp>
#include <spotter/judge/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// Open addressing by hash; a loop that names its tensors in the same order every step never hashes.
class registry {
public:
    registry() noexcept = default;
    registry(registry const&) = delete;
    registry& operator=(registry const&) = delete;
    ~registry();

    // The tensor of that name, created if it is new; null where memory is exhausted. A loop names its tensors in the
    // same order every step, so the successor of the last name is compared first.
    [[nodiscard]] tracked_tensor* find_or_add(std::string_view name) noexcept {
        if (known_.data() == nullptr || !known_[next_].is(name)) { return find_elsewhere(name); }
        return go_on().it;
    }
    // True if `name` is the tensor expected next and idle(known_tensor) holds: nothing of it is due. It then counts as
    // named, and only its own cache line was read.
    template <class Idle>
    [[nodiscard]] bool passes(std::string_view name, Idle&& idle) noexcept {
        if (known_.data() == nullptr || !idle(known_[next_]) || !known_[next_].is(name)) { return false; }
        go_on();
        return true;
    }
    // Copies what has changed of a tensor (declared, rules, collections) to its known_tensor.
    void note(tracked_tensor const& it) noexcept;
    // The role that the user gives; the first one holds.
    void give_role(tracked_tensor& it, role const* what, flag flags) noexcept;
    // Each tensor is declared again at its next observation.
    void declare_all_anew() noexcept;

    // The tensor whose name is `name` followed by `rest`; null if there is none.
    [[nodiscard]] tracked_tensor* find(std::string_view name, std::string_view rest = {}) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] tracked_tensor& operator[](std::size_t id) noexcept { return *tensors_[id]; }
    [[nodiscard]] tracked_tensor const& operator[](std::size_t id) const noexcept { return *tensors_[id]; }

    // Calls use(refused_tensor) for each name that was refused.
    template <class Use>
    void each_refused(Use&& use) const {
        for (std::size_t i = 0; i < count_; ++i) {
            tracked_tensor const& it = *tensors_[i];
            if (it.times_refused > 0) {
                use(refused_tensor{it.name, it.refused.code, it.refused.sentence, it.times_refused});
            }
        }
    }
    // Calls tell(std::string_view) with a line for each refused name.
    template <class Tell>
    void tell_refused(Tell&& tell) const {
        // By index: tell() may add the tensor of its own text.
        for (std::size_t i = 0, known = count_; i < known; ++i) {
            tracked_tensor const& it = *tensors_[i];
            if (it.times_refused == 0) { continue; }
            text<480> line;
            line << '"' << it.name.view() << "\" " << it.refused.sentence;
            if (it.times_refused > 1) { line << " (" << it.times_refused << " times)"; }
            tell(line.view());
        }
    }

    // The error of the first tensor that lacked memory.
    [[nodiscard]] error lack() const noexcept;

    // Ties a gradient to its tensor, and a loss or metric in evaluation to the one in training, in either order of
    // declaration. Returns a partner that was declared before and whose partner has changed. Call it again until it
    // returns null.
    [[nodiscard]] tracked_tensor* bind_partner(tracked_tensor& fresh) noexcept;

private:
    // What a name is checked against while nothing of its tensor is due: one cache line a tensor, in the order of ids.
    struct alignas(64) known_tensor {
        tracked_tensor* it = nullptr;
        std::uint64_t rules = 0, collections = 0;  // as in `it`
        std::uint32_t size = ~std::uint32_t{0};    // of the name; without a tensor a size that no name has
        tensor_id next = 0;                        // the id that followed it the last time; of a new one 0
        bool declared = false;                     // as in `it`
        char letters[24]{};                        // the name, if it fits

        [[nodiscard]] bool is(std::string_view name) const noexcept {
            if (name.size() != size) { return false; }
            if (size - 8U <= 8U) { return detail::same_ends<std::uint64_t>(letters, name.data(), size); }
            if (size - 4U <= 4U) { return detail::same_ends<std::uint32_t>(letters, name.data(), size); }
            return detail::same_letters(size <= sizeof letters ? letters : it->name.view().data(), name.data(), size);
        }
    };
    // Advances to the tensor after the expected one. Names usually come in the order of ids: a processor that predicts
    // id + 1 need not wait for this cache line. Later lines are prefetched.
    known_tensor const& go_on() noexcept {
        last_ = next_;
        SPOTTER_FETCH(known_.data() + last_ + ahead);
        if (known_[last_].next == last_ + 1) [[likely]] {
            ++next_;
        } else {
            next_ = known_[last_].next;
        }
        return known_[last_];
    }
    // Looks the name up by hash.
    [[nodiscard]] tracked_tensor* find_elsewhere(std::string_view name) noexcept;
    [[nodiscard]] tracked_tensor* bind_evaluation(tracked_tensor& fresh) noexcept;
    // Returns whether this changed either tensor.
    static bool tie(tracked_tensor& gradient, tracked_tensor& target) noexcept;

    // Null where memory is exhausted; nothing has changed then.
    [[nodiscard]] tracked_tensor* add(std::string_view name) noexcept;
    [[nodiscard]] bool rehash(std::size_t size) noexcept;
    void insert(tracked_tensor* it) noexcept;

    slot_array<tracked_tensor*> tensors_{};  // the first `count_` are owned
    slot_array<tracked_tensor*> table_{};    // hash table; its size is a power of two
    std::size_t count_ = 0;
    static constexpr std::size_t ahead = 8;  // cache lines to prefetch
    slot_array<known_tensor> known_{};       // `ahead` more than tensors
    tensor_id last_ = 0, next_ = 0;          // the id named last, and the expected one
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/registry.ipp>
#endif
