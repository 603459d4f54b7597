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
            if (it.times_refused > 0) { tell(refusal_of(it).view()); }
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
    // Name, reason and number of times of a refused tensor.
    [[nodiscard]] static text<480> refusal_of(tracked_tensor const& it) noexcept;
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
#include <spotter/core/casts.hpp>
#include <spotter/core/evaluation_name.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY registry::~registry() {
    for (std::size_t i = 0; i < count_; ++i) { delete tensors_[i]; }
}

SPOTTER_COLD_BODY text<480> registry::refusal_of(tracked_tensor const& it) noexcept {
    text<480> line;
    line << '"' << it.name.view() << "\" " << it.refused.sentence;
    if (it.times_refused > 1) { line << " (" << it.times_refused << " times)"; }
    return line;
}

SPOTTER_BODY SPOTTER_NOINLINE tracked_tensor* registry::find_elsewhere(std::string_view name) noexcept {
    tracked_tensor* found = find(name);
    if (found == nullptr) { found = add(name); }
    if (found == nullptr) { return nullptr; }
    known_[last_].next = found->info.id;
    last_ = found->info.id;
    next_ = known_[last_].next;
    return found;
}

SPOTTER_BODY void registry::note(tracked_tensor const& it) noexcept {
    known_tensor& known = known_[it.info.id];
    known.rules = it.rules;
    known.collections = it.info.collections;
    known.declared = it.declared;
}

SPOTTER_BODY void registry::give_role(tracked_tensor& it, role const* what, flag flags) noexcept {
    it.give_role(what, flags);
    note(it);
}

SPOTTER_BODY void registry::declare_all_anew() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        tensors_[i]->declared = false;
        note(*tensors_[i]);
    }
}

SPOTTER_BODY tracked_tensor* registry::find(std::string_view name, std::string_view rest) const noexcept {
    if (table_.size() == 0) { return nullptr; }
    std::size_t const mask = table_.size() - 1;
    std::uint64_t const hash = hash_bytes(rest.data(), rest.size(), hash_bytes(name.data(), name.size()));
    for (std::size_t i = static_cast<std::size_t>(hash) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
        std::string_view const met = table_[i]->name;
        if (met.size() == name.size() + rest.size() && met.starts_with(name) && met.ends_with(rest)) {
            return table_[i];
        }
    }
    return nullptr;
}

SPOTTER_BODY error registry::lack() const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (tensors_[i]->lacks_memory) { return tensors_[i]->lack(); }
    }
    return {};
}

SPOTTER_BODY tracked_tensor* registry::bind_evaluation(tracked_tensor& fresh) noexcept {
    bool const is_evaluation = says_evaluation(fresh.name);
    for (std::size_t i = 0; i < count_; ++i) {
        tracked_tensor& other = *tensors_[i];
        tracked_tensor& evaluated = is_evaluation ? fresh : other;
        tracked_tensor& trained = is_evaluation ? other : fresh;
        if (!other.declared || other.info.role != fresh.info.role || evaluated.info.partner != no_tensor ||
            !is_evaluation_of(evaluated.name, trained.name)) {
            continue;
        }
        evaluated.info.partner = trained.info.id;
        evaluated.info.partner_role = trained.info.role;
        return is_evaluation ? nullptr : &other;
    }
    return nullptr;
}

SPOTTER_BODY tracked_tensor* registry::bind_partner(tracked_tensor& fresh) noexcept {
    if (fresh.info.role == role::loss || fresh.info.role == role::metric) { return bind_evaluation(fresh); }
    std::string_view const target = gradient_of(fresh.name);
    if (!target.empty()) {
        if (fresh.info.partner == no_tensor) { fresh.info.partner_role = guess_role(target); }
        tracked_tensor* const other = find(target);
        return other != nullptr && other->declared && tie(fresh, *other) ? other : nullptr;
    }
    for (char const* prefix : {"grad/", "grads/", "gradient/", "grad for "}) {
        tracked_tensor* const gradient = find(prefix, fresh.name);
        if (gradient != nullptr && gradient->declared) { return tie(*gradient, fresh) ? gradient : nullptr; }
    }
    tracked_tensor* const gradient = find(fresh.name, ".grad");
    return gradient != nullptr && gradient->declared && tie(*gradient, fresh) ? gradient : nullptr;
}

SPOTTER_BODY bool registry::tie(tracked_tensor& gradient, tracked_tensor& target) noexcept {
    bool const news = gradient.info.partner != target.info.id || gradient.info.partner_role != target.info.role ||
                      target.info.partner != gradient.info.id;
    gradient.info.partner = target.info.id;
    gradient.info.partner_role = target.info.role;
    target.info.partner = gradient.info.id;
    return news;
}

SPOTTER_BODY tracked_tensor* registry::add(std::string_view name) noexcept {
    if (!tensors_.grow(count_ + 1) || !known_.grow(count_ + 1 + ahead)) { return nullptr; }
    if (2 * (count_ + 1) > table_.size() && !rehash(table_.size() == 0 ? 64 : 2 * table_.size())) { return nullptr; }
    tracked_tensor* const fresh = new (std::nothrow) tracked_tensor;
    if (fresh == nullptr || !fresh->name.assign(name)) {
        delete fresh;
        return nullptr;
    }
    fresh->info.id = static_cast<tensor_id>(count_);
    fresh->info.name = fresh->name;
    fresh->info.role = guess_role(fresh->name);
    if (name.starts_with("relu/")) { fresh->info.activation = activation_kind::relu; }
    known_tensor& known = known_[count_];
    known.it = fresh;
    known.size = static_cast<std::uint32_t>(name.size());
    if (name.size() <= sizeof known.letters) { name.copy(known.letters, name.size()); }
    tensors_[count_++] = fresh;
    insert(fresh);
    return fresh;
}

SPOTTER_BODY bool registry::rehash(std::size_t size) noexcept {
    slot_array<tracked_tensor*> larger;
    if (!larger.grow(size)) { return false; }
    table_ = std::move(larger);
    for (std::size_t i = 0; i < count_; ++i) { insert(tensors_[i]); }
    return true;
}

SPOTTER_BODY void registry::insert(tracked_tensor* it) noexcept {
    std::size_t const mask = table_.size() - 1;
    std::string_view const name = it->name;
    std::size_t i = as_size(hash_bytes(name.data(), name.size())) & mask;
    while (table_[i] != nullptr) { i = (i + 1) & mask; }
    table_[i] = it;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
