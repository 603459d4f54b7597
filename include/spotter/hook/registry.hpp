// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the tensors of a run: name to dense id and back. The only place of the hook that allocates, once a name.
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

    // The tensor of that name, made if it is new; null where memory is exhausted. A loop names its tensors in the same
    // order every step: what came behind the last one before is compared first.
    [[nodiscard]] tracked_tensor* find_or_add(std::string_view name) noexcept {
        if (known_.data() == nullptr || !known_[next_].is(name)) { return find_elsewhere(name); }
        return go_on().it;
    }
    // Whether it is the name of the tensor that is expected next, and idle(what is known of that) says that nothing of
    // it is due: then that was named, and no more than its line of the cache was looked at.
    template <class Idle>
    [[nodiscard]] bool passes(std::string_view name, Idle&& idle) noexcept {
        if (known_.data() == nullptr || !idle(known_[next_]) || !known_[next_].is(name)) { return false; }
        go_on();
        return true;
    }
    // What is known of it has changed: whether it is declared, or who wants it.
    void note(tracked_tensor const& it) noexcept;
    // As the user says; the first that says it holds.
    void give_role(tracked_tensor& it, role const* what, flag flags) noexcept;
    // Each tensor is declared again at its next observation.
    void declare_all_anew() noexcept;

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
            if (it.times_refused > 0) {
                use(refused_tensor{it.name, it.refused.code, it.refused.sentence, it.times_refused});
            }
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

    // Ties a gradient to what it is the gradient of, and a loss or metric in evaluation to the one in training,
    // whichever is declared first. Returns a partner that has been declared before and knows more now; null once there
    // is none.
    [[nodiscard]] tracked_tensor* bind_partner(tracked_tensor& fresh) noexcept;

private:
    // What is asked of a tensor that is named while nothing of it is due, in the order of the numbers: one line of the
    // cache each.
    struct alignas(64) known_tensor {
        tracked_tensor* it = nullptr;
        std::uint64_t rules = 0, collections = 0;  // as in `it`
        std::uint32_t size = ~std::uint32_t{0};    // of the name; where there is no tensor one that no name has
        tensor_id next = 0;     // what was named behind it the last time; behind a new one, the first
        bool declared = false;  // as in `it`
        char letters[24]{};     // of the name, where they have room

        [[nodiscard]] bool is(std::string_view name) const noexcept {
            if (name.size() != size) { return false; }
            if (size - 8U <= 8U) { return detail::same_ends<std::uint64_t>(letters, name.data(), size); }
            if (size - 4U <= 4U) { return detail::same_ends<std::uint32_t>(letters, name.data(), size); }
            return detail::same_letters(size <= sizeof letters ? letters : it->name.view().data(), name.data(), size);
        }
    };
    // What is expected was named. Most are named in the order of their numbers: a processor that takes the next number
    // for granted need not wait for the line of this one. Lines to come are asked for.
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
    // By its hash.
    [[nodiscard]] tracked_tensor* find_elsewhere(std::string_view name) noexcept;
    [[nodiscard]] tracked_tensor* bind_evaluation(tracked_tensor& fresh) noexcept;
    // Whether either knows more now.
    static bool tie(tracked_tensor& gradient, tracked_tensor& target) noexcept;

    // Null where memory is exhausted; nothing is changed then.
    [[nodiscard]] tracked_tensor* add(std::string_view name) noexcept;
    [[nodiscard]] bool rehash(std::size_t size) noexcept;
    void insert(tracked_tensor* it) noexcept;

    slot_array<tracked_tensor*> tensors_{};  // the first `count_` are owned
    slot_array<tracked_tensor*> table_{};    // a power of two of them
    std::size_t count_ = 0;
    static constexpr std::size_t ahead = 8;  // lines; as many as are read while one comes
    slot_array<known_tensor> known_{};       // so many more than tensors
    tensor_id last_ = 0, next_ = 0;          // was named; is expected
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/registry.ipp>
#endif
