// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the tensors of several records by name: one id and one declaration for each.
#pragma once

#include <spotter/core/event.hpp>

#include <deque>
#include <map>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The names belong to the trials, which must outlive it.
class shared_names {
public:
    struct entry {
        tensor_info info{};         // as the first record with the name declared it
        std::uint32_t version = 0;  // counts declarations; 0: none yet
        std::uint32_t from = 0;     // that record's number
    };

    [[nodiscard]] tensor_id id_of(std::string_view name) {
        auto const [it, fresh] = ids_.try_emplace(name, static_cast<tensor_id>(all_.size()));
        if (fresh) { all_.emplace_back(); }
        return it->second;
    }
    [[nodiscard]] entry const& of(tensor_id id) const noexcept { return all_[id]; }
    // A record's declaration. It counts if that record was the first with the name.
    void say(tensor_info const& info, std::uint32_t from) {
        entry& mine = all_[info.id];
        if (mine.version > 0 && mine.from != from) { return; }
        mine.info = info;
        mine.from = from;
        ++mine.version;
    }

private:
    std::map<std::string_view, tensor_id> ids_{};
    std::deque<entry> all_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
