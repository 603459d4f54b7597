// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the tensors of several records by their names: one id each, and one thing that the rules are told of it.
#pragma once

#include <spotter/core/event.hpp>

#include <deque>
#include <map>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The names are those of the trials, which outlive it.
class shared_names {
public:
    struct entry {
        tensor_info info{};         // as the record that declared it first has it
        std::uint32_t version = 0;  // counts what was told; 0: nothing so far
        std::uint32_t from = 0;     // that record's number
    };

    [[nodiscard]] tensor_id id_of(std::string_view name);
    [[nodiscard]] entry const& of(tensor_id id) const noexcept { return all_[id]; }
    // What a record declares. It counts where that record was the first with the name.
    void say(tensor_info const& info, std::uint32_t from);

private:
    std::map<std::string_view, tensor_id> ids_{};
    std::deque<entry> all_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/shared_names.ipp>
#endif
