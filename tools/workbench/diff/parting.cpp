// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of parting.hpp.
#include "diff/parting.hpp"

#include <spotter/core/casts.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// Counts the differing elements of two tensors of one type and shape; `element` is the first.
static void count_differing(std::span<std::byte const> a, std::span<std::byte const> b, std::size_t size,
                            parting_point& into) {
    for (std::size_t at = 0; at + size <= a.size(); at += size) {
        std::uint64_t bits = 0;
        for (std::size_t i = at; i < at + size; ++i) {
            bits += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(a[i] ^ b[i])));
        }
        if (bits == 0) { continue; }
        if (into.elements++ == 0) { into.element = at / size; }
        into.bits += bits;
    }
}
// The name of the first statistic that differs; empty where all common ones are equal.
[[nodiscard]] static std::string_view differing_statistic(summary const& a, summary const& b) {
    struct term {
        stats_mask kept;
        double summary::* value;
        std::string_view name;
    };
    constexpr term terms[] = {{stats_mask::range, &summary::minimum, "the range"},
                              {stats_mask::range, &summary::maximum, "the range"},
                              {stats_mask::sum, &summary::sum, "the sum"},
                              {stats_mask::sum_abs, &summary::sum_abs, "the sum of magnitudes"},
                              {stats_mask::sum_squares, &summary::sum_squares, "the sum of squares"},
                              {stats_mask::variance, &summary::moment2, "the variance"}};
    stats_mask const both = a.has & b.has;
    if (a.count != b.count) { return "the number of elements"; }
    if (has(both, stats_mask::hash) && a.hash != b.hash) { return "the hash"; }
    if (a.nan != b.nan || a.pos_inf != b.pos_inf || a.neg_inf != b.neg_inf) { return "what is not finite"; }
    if (has(both, stats_mask::zeros) && a.zeros != b.zeros) { return "the zeros"; }
    for (term const& each : terms) {
        double const &x = a.*each.value, &y = b.*each.value;
        if (has(both, each.kept) && std::memcmp(&x, &y, sizeof x) != 0) { return each.name; }
    }
    return {};
}

std::vector<parting_walk::snapshot> parting_walk::snapshots_of(worker_index const& run, step_rows const& rows) {
    std::vector<snapshot> all;
    auto const add = [&](tensor_id id, snapshot it) {
        recorded_tensor const& tensor = *run.tensors()[id];
        if (tensor.info.role == role::timing || tensor.info.role == role::system) { return; }
        it.name = tensor.name;
        all.push_back(std::move(it));
    };
    rows.each_event(recorded_sink{[&](recorded_observation const& seen) {
                                      snapshot it;
                                      it.stats = seen.stats;
                                      it.has_values = seen.row.has_values;
                                      add(seen.id, std::move(it));
                                  },
                                  [&](recorded_scalar const& seen) {
                                      if (!seen.row.has_step || seen.row.type == dtype::text) { return; }
                                      snapshot it;
                                      it.is_scalar = true;
                                      it.value.assign(seen.row.value.begin(), seen.row.value.end());
                                      add(seen.id, std::move(it));
                                  }});
    return all;
}

std::optional<parting_point> parting_walk::compare(step_id step, snapshot const& a, snapshot const& b) const {
    parting_point apart{step, a.name, {}, 0, 0, 0};
    if (a.is_scalar && b.is_scalar) {
        if (a.value == b.value) { return {}; }
        count_differing(a.value, b.value, (std::max)(a.value.size(), std::size_t{1}), apart);
        apart.what = "another value";
        return apart;
    }
    std::string_view const statistic = differing_statistic(a.stats, b.stats);
    if (a.has_values && b.has_values) {
        recorded_value const x = a_[a.name].at(step), y = b_[b.name].at(step);
        if (x && y && x.type() == y.type() && x.shape() == y.shape()) {
            auto const bytes = [](recorded_value const& it) {
                return std::span{static_cast<std::byte const*>(it.view().values.raw), as_size(it.view().bytes())};
            };
            count_differing(bytes(x), bytes(y), (std::max)(size_of(x.type()), std::size_t{1}), apart);
            if (apart.elements == 0) { return {}; }
            apart.what = "other values";
            return apart;
        }
        if (x && y) {
            apart.what = "another type or shape";
            return apart;
        }
    }
    if (statistic.empty()) { return {}; }
    apart.what = statistic;
    return apart;
}

std::optional<parting_point> parting_walk::compare(step_id step, std::vector<snapshot> const& a,
                                                   std::vector<snapshot> const& b) const {
    for (std::size_t i = 0; i < (std::min)(a.size(), b.size()); ++i) {
        if (a[i].name != b[i].name) {
            return parting_point{step, a[i].name, "observed where the other observed " + b[i].name, 0, 0, 0};
        }
        if (auto const apart = compare(step, a[i], b[i])) { return apart; }
    }
    if (a.size() == b.size()) { return {}; }
    snapshot const& more = a.size() > b.size() ? a[b.size()] : b[a.size()];
    return parting_point{step, more.name, "observed by one alone", 0, 0, 0};
}

std::optional<parting_point> const& parting_walk::look() {
    if (found_) { return found_; }
    (void)a_.refresh();
    (void)b_.refresh();
    std::size_t const both = (std::min)(index_of(a_).steps().size(), index_of(b_).steps().size());
    while (!found_ && steps_ < both && rows_a_.seek(steps_) && rows_b_.seek(steps_)) {
        if (rows_a_.step() != rows_b_.step()) {
            found_ = parting_point{rows_a_.step(), {}, "a step that the other did not close then", 0, 0, 0};
            break;
        }
        found_ = compare(rows_a_.step(), snapshots_of(index_of(a_), rows_a_), snapshots_of(index_of(b_), rows_b_));
        steps_ += found_ ? 0U : 1U;
    }
    return found_;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

parting::parting(trial& a, trial& b) : its_{std::make_unique<detail::parting_walk>(a, b)} {}
parting::~parting() = default;

std::optional<parting_point> const& parting::look() { return its_->look(); }
std::uint64_t parting::steps() const noexcept { return its_->steps(); }

}  // namespace spotter::inline SPOTTER_ABI
