// SPDX-License-Identifier: Apache-2.0
// The hook behind passive_watch.
#include "passive.hpp"

#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <type_traits>

namespace preflight_bench {

namespace sp = spotter;

struct passive_watch::parts {
    sp::hook<sp::null_sink, sp::plan<>, std::remove_cvref_t<decltype(sp::packs::supervised)>> hook{
        sp::plan<>{}, sp::packs::supervised};
};

passive_watch::passive_watch() : parts_{std::make_unique<parts>()} {}
passive_watch::~passive_watch() = default;

void passive_watch::begin(std::uint64_t step) { parts_->hook.begin(sp::train(step)); }
void passive_watch::observe(std::string_view name, sp::tensor_ref const& it, sp::flag flags) {
    parts_->hook.observe(name, it, flags);
}
bool passive_watch::end(outcome& into) {
    sp::step_alarm const found = parts_->hook.end();
    if (!found) { return false; }
    for (sp::finding const& each : found) {
        sp::text<400> line;
        line << name_of(each.severity) << ": " << each.rule << " at " << each.tensor << ": " << each.measure << ' '
             << each.measured << " (" << each.reason << "; " << each.detail.view() << ")\n";
        into.words += line.view();
        if (each.severity < sp::severity::warning) { continue; }
        into.all.emplace_back(each.rule);
        if (into.first.empty()) { into.first = each.rule, into.is_error = each.severity == sp::severity::error; }
    }
    return true;
}

}  // namespace preflight_bench
