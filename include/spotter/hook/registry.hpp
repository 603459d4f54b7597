// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the tensors of a run: name to dense id and back. The only place of the hook that allocates, once a name.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/hook/guard.hpp>
#include <spotter/rule/machine.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The values of a tensor at its last observation in one mode, kept where a rule wants the change.
struct retained_copy {
    std::vector<unsigned char> bytes{};
    tensor_ref view{};  // type and shape; points into bytes
    std::uint64_t index = 0;
    bool valid = false;

    void keep(tensor_ref const& now, std::uint64_t step_index) {
        bytes.resize(static_cast<std::size_t>(now.bytes()));
        if (!bytes.empty()) { std::memcpy(bytes.data(), now.values.raw, bytes.size()); }
        view = now;
        view.values.raw = bytes.data();
        index = step_index;
        valid = true;
    }
};

// One tensor as the hook knows it. Addresses are stable for the hook's life.
struct tracked_tensor {
    std::string name{};
    tensor_info info{};
    bool declared = false;    // to rules and sink; at its first observation
    bool role_given = false;  // by the user, so that no guess replaces it
    bool refusal_told = false;

    std::uint64_t rules = 0;       // bit i: rule i watches it
    terms rule_terms = terms::none; // the union of what they want
    slots<terms> terms_of_rule{};
    int unit_axis = default_axis;
    std::vector<std::uint32_t> units{};  // scratch of the unit-activity feature: active, then finite
    std::unique_ptr<retained_copy[]> previous{};  // one a mode, where a rule wants delta

    std::uint64_t cached_due = 0;  // collections due when `cached_wanted` was looked up
    terms cached_wanted = terms::none;
    tracked_tensor* successor = nullptr;  // what was observed after it last time
};

// Open addressing by hash; a loop that names its tensors in the same order every step never hashes (see find).
class registry {
public:
    // The tensor of that name, made if it is new; null where memory is exhausted.
    [[nodiscard]] tracked_tensor* find_or_add(std::string_view name) noexcept {
        if (tracked_tensor* const expected = last_ != nullptr ? last_->successor : nullptr; expected != nullptr && expected->name == name) {
            return last_ = expected;
        }
        tracked_tensor* found = find(name);
        if (found == nullptr && !guarded([&] { found = add(name); })) { return nullptr; }
        if (last_ != nullptr) { last_->successor = found; }
        return last_ = found;
    }

    [[nodiscard]] tracked_tensor* find(std::string_view name) const noexcept {
        if (table_.empty()) { return nullptr; }
        std::size_t const mask = table_.size() - 1;
        for (std::size_t i = hash_bytes(name.data(), name.size()) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
            if (table_[i]->name == name) { return table_[i]; }
        }
        return nullptr;
    }

    [[nodiscard]] std::size_t size() const noexcept { return tensors_.size(); }
    [[nodiscard]] tracked_tensor& operator[](std::size_t id) noexcept { return *tensors_[id]; }
    [[nodiscard]] tracked_tensor const& operator[](std::size_t id) const noexcept { return *tensors_[id]; }

    // Ties a gradient to what it is the gradient of, whichever came first. Calls `changed(tensor)` for a partner that was
    // declared before and now knows more.
    template <class Changed>
    void bind_partners(tracked_tensor& fresh, Changed&& changed) {
        std::string_view const target = gradient_of(fresh.name);
        if (!target.empty()) {
            fresh.info.partner_role = guess_role(target);
            if (tracked_tensor* const other = find(target)) { tie(fresh, *other, changed); }
            return;
        }
        for (char const* prefix : {"grad/", "grads/", "gradient/"}) {
            if (tracked_tensor* const gradient = find(prefix + fresh.name)) { tie(*gradient, fresh, changed); }
        }
        if (tracked_tensor* const gradient = find(fresh.name + ".grad")) { tie(*gradient, fresh, changed); }
    }

private:
    template <class Changed>
    static void tie(tracked_tensor& gradient, tracked_tensor& target, Changed&& changed) {
        bool const news = gradient.info.partner != target.info.id || gradient.info.partner_role != target.info.role;
        gradient.info.partner = target.info.id;
        gradient.info.partner_role = target.info.role;
        target.info.partner = gradient.info.id;
        if (news && gradient.declared) { changed(gradient); }
    }

    [[nodiscard]] tracked_tensor* add(std::string_view name) {
        auto fresh = std::make_unique<tracked_tensor>();
        fresh->name = name;
        fresh->info.id = static_cast<tensor_id>(tensors_.size());
        fresh->info.name = fresh->name;
        fresh->info.role = guess_role(fresh->name);
        if (2 * (tensors_.size() + 1) > table_.size()) { rehash(table_.empty() ? 64 : 2 * table_.size()); }
        tensors_.push_back(std::move(fresh));
        insert(tensors_.back().get());
        return tensors_.back().get();
    }
    void rehash(std::size_t size) {
        std::vector<tracked_tensor*> larger(size, nullptr);
        table_.swap(larger);
        for (auto const& each : tensors_) { insert(each.get()); }
    }
    void insert(tracked_tensor* it) noexcept {
        std::size_t const mask = table_.size() - 1;
        std::size_t i = hash_bytes(it->name.data(), it->name.size()) & mask;
        while (table_[i] != nullptr) { i = (i + 1) & mask; }
        table_[i] = it;
    }

    std::vector<std::unique_ptr<tracked_tensor>> tensors_{};
    std::vector<tracked_tensor*> table_{};
    tracked_tensor* last_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI
