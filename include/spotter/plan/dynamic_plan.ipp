// SPDX-License-Identifier: Apache-2.0
// The bodies of dynamic_plan.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/plan/dynamic_plan.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void dynamic_plan::add(std::string_view name, part which, part when, stats_mask what) noexcept {
    if (count_ == limit || !entries_.grow(count_ + 1)) {
        whole_ = false;
        return;
    }
    if (any(what & (pass_terms | stats_mask::change))) { what |= stats_mask::nonfinite; }
    if (has(what, stats_mask::variance)) { what |= stats_mask::sum; }
    entries_[count_++] = {put(name), name.size(), which, when, what};
}

SPOTTER_BODY std::uint64_t dynamic_plan::due(step_id step) const noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size(); ++i) { bits |= std::uint64_t{answer(entries_[i].when, step)} << i; }
    return bits;
}

SPOTTER_BODY std::uint64_t dynamic_plan::members(tensor_info const& tensor) const noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size(); ++i) { bits |= std::uint64_t{answer(entries_[i].which, tensor)} << i; }
    return bits;
}

SPOTTER_BODY stats_mask dynamic_plan::wanted(std::uint64_t set) const noexcept {
    stats_mask all = stats_mask::none;
    for (std::size_t i = 0; i < size(); ++i) {
        if ((set >> i & 1) != 0) { all = detail::together(all, entries_[i].what); }
    }
    return all;
}

SPOTTER_BODY pattern_fault dynamic_plan::malformed() const noexcept {
    if (too_deep_) { return "(expressions nested more than 256 deep)"; }
    if (!whole()) { return "(more than 64 collections, or no memory for them)"; }
    for (std::size_t i = 0; i < questions_count_; ++i) {
        question const& it = questions_[i];
        pattern_fault bad;
        if (it.what == asked::glob) { bad = detail::fault_in_glob(text(it)); }
        if (it.what == asked::regex) {
            bad = matcher_ == nullptr ? pattern_fault{text(it)} : matcher_->fault(text(it));
        }
        if (!bad.empty()) { return bad; }
    }
    return {};
}

SPOTTER_BODY bool dynamic_plan::whole() const noexcept {
    return whole_ && entries_.size() >= count_ && questions_.size() >= questions_count_ &&
           letters_.size() >= letters_count_ && numbers_.size() >= numbers_count_;
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep(glob const& it) noexcept {
    return put({asked::glob, 0, 0, put(it.pattern), it.pattern.size()});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep(of_role const& it) noexcept {
    return put({asked::role, 0, 0, static_cast<std::uint64_t>(it.wanted), 0});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep_regex(std::string_view expression,
                                                         text_matcher const& how) noexcept {
    matcher_ = &how;
    return put({asked::regex, 0, 0, put(expression), expression.size()});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep_names(std::span<std::string_view const> list) noexcept {
    std::uint64_t const begin = numbers_count_;
    for (std::string_view const each : list) {
        put(put(each));
        put(std::uint64_t{each.size()});
    }
    return put({asked::names, 0, 0, begin, list.size()});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep(every const& it) noexcept {
    return it.interval == 0 ? keep(never{}) : put({asked::every, 0, 0, it.interval, 0});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::keep_at(std::span<std::uint64_t const> indices) noexcept {
    std::uint64_t const begin = numbers_count_;
    for (std::uint64_t const each : indices) { put(each); }
    return put({asked::at, 0, 0, begin, indices.size()});
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::join(asked how, part left, part right) noexcept {
    if (!whole()) { return {}; }
    std::uint32_t const of_left = questions_[left.index].depth, of_right = questions_[right.index].depth;
    return put_above({how, left.index, right.index}, of_left > of_right ? of_left : of_right);
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::negate(part inner) noexcept {
    return whole() ? put_above({asked::negated, inner.index}, questions_[inner.index].depth) : part{};
}

SPOTTER_BODY std::string_view dynamic_plan::name(std::size_t i) const noexcept {
    return view(entries_[i].name, entries_[i].name_size);
}

SPOTTER_BODY std::string_view dynamic_plan::name_of_list(question const& it, std::size_t i) const noexcept {
    std::size_t const at = static_cast<std::size_t>(it.first) + 2 * i;
    return view(numbers_[at], numbers_[at + 1]);
}

SPOTTER_BODY std::span<std::uint64_t const> dynamic_plan::indices(question const& it) const noexcept {
    return {numbers_.data() + it.first, static_cast<std::size_t>(it.second)};
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::put_above(question it, std::uint32_t below) noexcept {
    if (below >= deepest) {
        too_deep_ = true;
        whole_ = false;
        return {};
    }
    it.depth = below + 1;
    return put(it);
}

SPOTTER_BODY dynamic_plan::part dynamic_plan::put(question const& it) noexcept {
    if (!questions_.grow(questions_count_ + 1)) {
        whole_ = false;
        return {};
    }
    questions_[questions_count_] = it;
    return {static_cast<std::uint32_t>(questions_count_++)};
}

SPOTTER_BODY std::uint64_t dynamic_plan::put(std::string_view letters) noexcept {
    std::size_t const begin = letters_count_;
    if (!letters_.grow(begin + letters.size())) {
        whole_ = false;
        return 0;
    }
    for (char const each : letters) { letters_[letters_count_++] = each; }
    return begin;
}

SPOTTER_BODY void dynamic_plan::put(std::uint64_t number) noexcept {
    if (numbers_.grow(numbers_count_ + 1)) {
        numbers_[numbers_count_++] = number;
    } else {
        whole_ = false;
    }
}

SPOTTER_BODY std::string_view dynamic_plan::view(std::uint64_t begin, std::uint64_t size) const noexcept {
    return {letters_.data() + begin, as_size(size)};
}

SPOTTER_BODY bool dynamic_plan::leaf(question const& it, step_id step) const noexcept {
    switch (it.what) {
        case asked::always:
            return true;
        case asked::every:
            return every{it.first}(step);
        case asked::from:
            return from{it.first}(step);
        case asked::before:
            return before{it.first}(step);
        case asked::between:
            return between{it.first, it.second}(step);
        case asked::during:
            return index_of(step.mode) == it.first;
        case asked::at:
            for (std::uint64_t const each : indices(it)) {
                if (each == step.index) { return true; }
            }
            return false;
        default:
            return false;
    }
}

SPOTTER_BODY bool dynamic_plan::leaf(question const& it, tensor_info const& tensor) const noexcept {
    switch (it.what) {
        case asked::glob:
            return glob{text(it)}(tensor);
        case asked::regex:
            return matcher_ != nullptr && matcher_->matches(text(it), tensor);
        case asked::role:
            return static_cast<std::uint64_t>(tensor.role) == it.first;
        case asked::names:
            for (std::size_t i = 0; i < it.second; ++i) {
                if (name_of_list(it, i) == tensor.name) { return true; }
            }
            return false;
        default:
            return false;
    }
}

SPOTTER_BODY void dynamic_plan::tell(part at, sentence& out) const noexcept {
    question const& it = questions_[at.index];
    if (it.what == asked::negated) {
        out << '!';
        return tell(part{it.left}, out);
    }
    if (it.what != asked::both && it.what != asked::either) { return tell_leaf(it, out); }
    out << '(';
    tell(part{it.left}, out);
    out << (it.what == asked::both ? " && " : " || ");
    tell(part{it.right}, out);
    out << ')';
}

SPOTTER_BODY void dynamic_plan::tell_leaf(question const& it, sentence& out) const noexcept {
    auto const list = [&](char const* name, auto const& item) {
        out << name << '{';
        for (std::size_t i = 0; i < it.second; ++i) { out << (i == 0 ? "" : ", ") << item(i); }
        out << '}';
    };
    switch (it.what) {
        case asked::glob:
            return describe(glob{text(it)}, out);
        case asked::regex:
            out << "regex{\"" << text(it) << "\"}";
            return;
        case asked::role:
            return describe(of_role{static_cast<role>(it.first)}, out);
        case asked::names:
            return list("names", [&](std::size_t i) { return name_of_list(it, i); });
        case asked::always:
            return describe(always{}, out);
        case asked::every:
            return describe(every{it.first}, out);
        case asked::from:
            return describe(from{it.first}, out);
        case asked::before:
            return describe(before{it.first}, out);
        case asked::between:
            return describe(between{it.first, it.second}, out);
        case asked::during:
            return describe(during{static_cast<mode>(it.first)}, out);
        case asked::at:
            return list("at", [&](std::size_t i) { return indices(it)[i]; });
        case asked::never:
            return describe(never{}, out);
        case asked::both:
        case asked::either:
        case asked::negated:
            return;  // these are no leaves
    }
}

SPOTTER_BODY bool dynamic_plan::same(dynamic_plan const& a, part at_a, dynamic_plan const& b, part at_b) noexcept {
    question const& left = a.at_node(at_a);
    question const& right = b.at_node(at_b);
    if (left.what != right.what) { return false; }
    switch (left.what) {
        case asked::glob:
        case asked::regex:
            return a.text(left) == b.text(right);
        case asked::both:
        case asked::either:
            return same(a, {left.left}, b, {right.left}) && same(a, {left.right}, b, {right.right});
        case asked::negated:
            return same(a, {left.left}, b, {right.left});
        case asked::names:
        case asked::at:
            if (left.second != right.second) { return false; }
            for (std::size_t i = 0; i < left.second; ++i) {
                bool const equal = left.what == asked::at ? a.indices(left)[i] == b.indices(right)[i]
                                                          : a.name_of_list(left, i) == b.name_of_list(right, i);
                if (!equal) { return false; }
            }
            return true;
        default:
            return left.first == right.first && left.second == right.second;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
