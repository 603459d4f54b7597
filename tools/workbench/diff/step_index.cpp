// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of step_index.hpp.
#include "diff/step_index.hpp"

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

std::uint32_t step_index::number_of(std::string_view name) {
    auto const found = numbers_.find(name);
    if (found != numbers_.end()) { return found->second; }
    auto const number = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(std::string{name}, number);
    return number;
}

void step_index::put(step_id step, std::span<std::uint32_t const> names) {
    list all{names.begin(), names.end()};
    auto const before = at(step);
    if (!before.empty()) {
        list const fresh = all;
        all.assign(before.begin(), before.end());
        std::erase_if(all,
                      [&](std::uint32_t each) { return std::find(fresh.begin(), fresh.end(), each) != fresh.end(); });
        all.insert(all.end(), fresh.begin(), fresh.end());
    }
    put_list(step, std::move(all));
}

void step_index::put_missing(step_id step, std::span<std::uint32_t const> names) {
    auto const before = at(step);
    list all{before.begin(), before.end()};
    for (std::uint32_t const each : names) {
        if (!has(step, each)) { all.push_back(each); }
    }
    put_list(step, std::move(all));
}

void step_index::put_list(step_id step, list names) {
    steps_of_mode& mine = modes_[index_of(step.mode)];
    std::uint32_t const number = number_of(std::move(names));
    auto const at = mine.index.empty() || mine.index.back() < step.index
                        ? mine.index.end()
                        : std::lower_bound(mine.index.begin(), mine.index.end(), step.index);
    auto const place = at - mine.index.begin();
    if (at != mine.index.end() && *at == step.index) {
        mine.names[static_cast<std::size_t>(place)] = number;
        return;
    }
    mine.index.insert(at, step.index);
    mine.names.insert(mine.names.begin() + place, number);
    steps_.push_back(step);
}

std::uint32_t step_index::number_of(list names) {
    if (!lists_.empty() && *lists_.back().names == names) { return static_cast<std::uint32_t>(lists_.size() - 1); }
    auto const [at, is_new] = numbers_of_.try_emplace(std::move(names), static_cast<std::uint32_t>(lists_.size()));
    if (is_new) {
        lists_.push_back({&at->first, at->first});
        std::sort(lists_.back().sorted.begin(), lists_.back().sorted.end());
    }
    return at->second;
}

void step_index::sort_steps_by_index() {
    std::sort(steps_.begin(), steps_.end(),
              [](step_id a, step_id b) { return a.index != b.index ? a.index < b.index : a.mode < b.mode; });
}

std::uint32_t const* step_index::find(step_id step) const {
    steps_of_mode const& mine = modes_[index_of(step.mode)];
    for (std::size_t const next : {mine.last, mine.last + 1}) {
        if (next >= mine.index.size() || mine.index[next] != step.index) { continue; }
        mine.last = next;
        return &mine.names[next];
    }
    auto const at = std::lower_bound(mine.index.begin(), mine.index.end(), step.index);
    if (at == mine.index.end() || *at != step.index) { return nullptr; }
    mine.last = static_cast<std::size_t>(at - mine.index.begin());
    return &mine.names[mine.last];
}

std::span<std::uint32_t const> step_index::at(step_id step) const {
    std::uint32_t const* const number = find(step);
    return number == nullptr ? std::span<std::uint32_t const>{} : std::span{*lists_[*number].names};
}

bool step_index::has(step_id step, std::uint32_t name) const {
    std::uint32_t const* const number = find(step);
    if (number == nullptr) { return false; }
    list const& sorted = lists_[*number].sorted;
    return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace spotter::inline SPOTTER_ABI
