// SPDX-License-Identifier: Apache-2.0
// Hook (L3): a table of tensors, registered once: name, where the pointer will stand, sizes.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/source.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// For programs whose tensors are pointers in structs that are allocated, swapped and freed during the run. Each row holds the
// address of the pointer, which must outlive the table; the pointer itself may be null, and is read at each use. Sizes may be
// changed with `resize`. Adding allocates, using does not.
//
//     tensor_table table;
//     table.add("fc1/w", &net->w, {256, 784}).add("grad/fc1/w", &net->gw, {256, 784});
//     watch.step(train(i), "loss"_t = loss, table);
class tensor_table {
public:
    // With the role that the name tells, and flags.
    template <element Value>
    tensor_table& add(std::string_view name, Value* const* where, extents const& shape, flag flags = flag::none) {
        return add_row<Value>({std::string{name}, where, shape, role::other, flags, false, nullptr});
    }
    template <element Value>
    tensor_table& add(std::string_view name, Value* const* where, extents const& shape, role what,
                      flag flags = flag::none) {
        return add_row<Value>({std::string{name}, where, shape, what, flags, true, nullptr});
    }
    // The sizes of every row of that name; false where there is none.
    bool resize(std::string_view name, extents const& shape) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

    // Rows whose pointer is null are left out.
    template <class Visit>
    friend void visit_tensors(tensor_table const& table, Visit visit) {
        for (row const& each : table.rows_) {
            tensor_ref const view = each.view(each.where, each.shape);
            if (view.absent()) { continue; }
            if (each.role_given) {
                visit(each.name, view, each.what, each.flags);
            } else {
                visit(each.name, view, each.flags);
            }
        }
    }

private:
    struct row {
        std::string name;
        void const* where;
        extents shape;
        role what;
        flag flags;
        bool role_given;
        tensor_ref (*view)(void const* where, extents const& shape);
    };
    template <class Value>
    tensor_table& add_row(row fresh) {
        fresh.view = [](void const* place, extents const& sizes) {
            Value const* const values = *static_cast<Value* const*>(place);
            return values == nullptr ? tensor_ref{} : view_of(values, sizes);
        };
        rows_.push_back(std::move(fresh));
        return *this;
    }
    std::vector<row> rows_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/table.ipp>
#endif
