// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the tensors of a run: name to dense id and back. The only place of the hook that allocates, once a name.
#pragma once

#include <spotter/hook/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// Open addressing by hash; a loop that names its tensors in the same order every step never hashes (see find).
class registry {
public:
    registry() noexcept = default;
    registry(registry const&) = delete;
    registry& operator=(registry const&) = delete;
    ~registry() {
        for (std::size_t i = 0; i < count_; ++i) { delete tensors_[i]; }
    }

    // The tensor of that name, made if it is new; null where memory is exhausted.
    [[nodiscard]] tracked_tensor* find_or_add(std::string_view name) noexcept {
        if (tracked_tensor* const expected = last_ != nullptr ? last_->successor : nullptr;
            expected != nullptr && expected->name == name) {
            return last_ = expected;
        }
        tracked_tensor* found = find(name);
        if (found == nullptr) { found = add(name); }
        if (found == nullptr) { return nullptr; }
        if (last_ != nullptr) { last_->successor = found; }
        return last_ = found;
    }

    [[nodiscard]] tracked_tensor* find(std::string_view name) const noexcept {
        if (table_.size() == 0) { return nullptr; }
        std::size_t const mask = table_.size() - 1;
        for (std::size_t i = hash_bytes(name.data(), name.size()) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
            if (table_[i]->name == name) { return table_[i]; }
        }
        return nullptr;
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] tracked_tensor& operator[](std::size_t id) noexcept { return *tensors_[id]; }
    [[nodiscard]] tracked_tensor const& operator[](std::size_t id) const noexcept { return *tensors_[id]; }

    // The first tensor that there was too little memory for.
    [[nodiscard]] error lack() const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (tensors_[i]->lacks_memory) { return tensors_[i]->lack(); }
        }
        return {};
    }

    // Ties a gradient to what it is the gradient of, whichever is declared first. Returns the partner if it has been declared
    // before and knows more now.
    [[nodiscard]] tracked_tensor* bind_partner(tracked_tensor& fresh) {
        std::string_view const target = gradient_of(fresh.name);
        if (!target.empty()) {
            fresh.info.partner_role = guess_role(target);
            tracked_tensor* const other = find(target);
            return other != nullptr && other->declared && tie(fresh, *other) ? other : nullptr;
        }
        for (char const* prefix : {"grad/", "grads/", "gradient/"}) {
            tracked_tensor* const gradient = find(prefix + fresh.name);
            if (gradient != nullptr && gradient->declared) { return tie(*gradient, fresh) ? gradient : nullptr; }
        }
        tracked_tensor* const gradient = find(fresh.name + ".grad");
        return gradient != nullptr && gradient->declared && tie(*gradient, fresh) ? gradient : nullptr;
    }

private:
    // Whether either knows more now.
    static bool tie(tracked_tensor& gradient, tracked_tensor& target) noexcept {
        bool const news = gradient.info.partner != target.info.id || gradient.info.partner_role != target.info.role ||
                          target.info.partner != gradient.info.id;
        gradient.info.partner = target.info.id;
        gradient.info.partner_role = target.info.role;
        target.info.partner = gradient.info.id;
        return news;
    }

    // Null where memory is exhausted; nothing is changed then. The name's own memory is the only thing that can throw.
    [[nodiscard]] tracked_tensor* add(std::string_view name) noexcept {
        if (!tensors_.grow(count_ + 1)) { return nullptr; }
        if (2 * (count_ + 1) > table_.size() && !rehash(table_.size() == 0 ? 64 : 2 * table_.size())) {
            return nullptr;
        }
        tracked_tensor* const fresh = new (std::nothrow) tracked_tensor;
        if (fresh == nullptr || !guarded([&] { fresh->name = name; })) {
            delete fresh;
            return nullptr;
        }
        fresh->info.id = static_cast<tensor_id>(count_);
        fresh->info.name = fresh->name;
        fresh->info.role = guess_role(fresh->name);
        if (name.starts_with("relu/")) { fresh->info.activation = activation_kind::relu; }
        tensors_[count_++] = fresh;
        insert(fresh);
        return fresh;
    }
    [[nodiscard]] bool rehash(std::size_t size) noexcept {
        slots<tracked_tensor*> larger;
        if (!larger.grow(size)) { return false; }
        table_ = std::move(larger);
        for (std::size_t i = 0; i < count_; ++i) { insert(tensors_[i]); }
        return true;
    }
    void insert(tracked_tensor* it) noexcept {
        std::size_t const mask = table_.size() - 1;
        std::size_t i = hash_bytes(it->name.data(), it->name.size()) & mask;
        while (table_[i] != nullptr) { i = (i + 1) & mask; }
        table_[i] = it;
    }

    slots<tracked_tensor*> tensors_{};  // the first `count_` are owned
    slots<tracked_tensor*> table_{};    // a power of two of them
    std::size_t count_ = 0;
    tracked_tensor* last_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI
