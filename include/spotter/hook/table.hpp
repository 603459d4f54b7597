// SPDX-License-Identifier: Apache-2.0
// Hook (L3): a table of tensors that is filled once: names, addresses of pointers, sizes.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/core/role.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// For programs whose tensors are pointers in structs that are allocated, swapped and freed during the run. Each row
// holds the address of a pointer, which must outlive the table. The pointer itself may be null, and is read at each
// use. `resize` changes the sizes of a row. Only adding allocates. Nothing throws: where memory is exhausted a row is
// left out, which size() shows.
//
//     tensor_table table;
//     table.add("fc1/w", &net->w, {256, 784}).add("grad/fc1/w", &net->gw, {256, 784});
//     watch.step(train(i), "loss"_t = loss, table);
class tensor_table {
public:
    tensor_table() noexcept = default;
    tensor_table(tensor_table const& other) noexcept;
    tensor_table(tensor_table&& other) noexcept
        : rows_{std::move(other.rows_)}, count_{std::exchange(other.count_, 0)} {}
    tensor_table& operator=(tensor_table other) noexcept {
        rows_ = std::move(other.rows_);
        count_ = std::exchange(other.count_, 0);
        return *this;
    }

    // With flags; the role is guessed from the name.
    template <element Value>
    tensor_table& add(std::string_view name, Value* const* where, extents const& shape,
                      flag flags = flag::none) noexcept {
        return add_row(name, {{}, where, shape, role::other, flags, false, &view_at<Value>});
    }
    template <element Value>
    tensor_table& add(std::string_view name, Value* const* where, extents const& shape, role what,
                      flag flags = flag::none) noexcept {
        return add_row(name, {{}, where, shape, what, flags, true, &view_at<Value>});
    }
    // Sets the sizes of every row of that name; false where there is none.
    bool resize(std::string_view name, extents const& shape) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    // Rows whose pointer is null are left out.
    template <class Visit>
    friend void visit_tensors(tensor_table const& table, Visit visit) {
        for (std::size_t i = 0; i < table.count_; ++i) {
            row const& each = table.rows_[i];
            tensor_ref const view = each.view(each.where, each.shape);
            if (view.absent()) { continue; }
            if (each.role_given) {
                visit(each.name.view(), view, each.what, each.flags);
            } else {
                visit(each.name.view(), view, each.flags);
            }
        }
    }

private:
    struct row {
        kept_text name{};
        void const* where = nullptr;
        extents shape{};
        role what = role::other;
        flag flags = flag::none;
        bool role_given = false;
        tensor_ref (*view)(void const* where, extents const& shape) = nullptr;
    };
    template <class Value>
    [[nodiscard]] static tensor_ref view_at(void const* place, extents const& sizes) {
        Value const* const values = *static_cast<Value* const*>(place);
        return values == nullptr ? tensor_ref{} : view_of(values, sizes);
    }
    tensor_table& add_row(std::string_view name, row fresh) noexcept;

    slot_array<row> rows_{};
    std::size_t count_ = 0;  // rows in use
};

#if SPOTTER_BODIES

SPOTTER_BODY tensor_table::tensor_table(tensor_table const& other) noexcept {
    for (std::size_t i = 0; i < other.count_; ++i) { add_row(other.rows_[i].name, other.rows_[i]); }
}

SPOTTER_BODY tensor_table& tensor_table::add_row(std::string_view name, row fresh) noexcept {
    if (!fresh.name.assign(name) || !rows_.grow(count_ + 1)) { return *this; }
    rows_[count_++] = std::move(fresh);
    return *this;
}

SPOTTER_BODY bool tensor_table::resize(std::string_view name, extents const& shape) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count_; ++i) {
        if (rows_[i].name.view() == name) { rows_[i].shape = shape, found = true; }
    }
    return found;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
