// SPDX-License-Identifier: Apache-2.0
// The bodies of registry.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/evaluation_name.hpp>
#include <spotter/hook/registry.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY registry::~registry() {
    for (std::size_t i = 0; i < count_; ++i) { delete tensors_[i]; }
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
