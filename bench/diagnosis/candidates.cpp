// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include "labels.hpp"

#include <spotter/diagnosis/packs.hpp>

#include <algorithm>

namespace diagnosis {

namespace {

namespace sp = spotter;
namespace sd = spotter::detail;

void add_rules_of(sd::pack_id pack, sd::hidden_pack& to) {
    if (pack == sd::pack_id::supervised) { sd::add_rules<sd::pack_id::supervised>(to); }
    if (pack == sd::pack_id::rl) { sd::add_rules<sd::pack_id::rl>(to); }
    if (pack == sd::pack_id::boosting) { sd::add_rules<sd::pack_id::boosting>(to); }
}

// As diagnosed_pack, with more than one diagnoser.
class many_diagnosed final : public sd::hidden_pack {
public:
    explicit many_diagnosed(candidate_packs const& it) : it_{it} {
        for (diagnosis_limits const& each : candidates()) {
            if (!diagnosers_.emplace_back(sd::has_objective(it.pack), each).reserve()) { lack_memory(); }
        }
        it.heard->assign(diagnosers_.size(), static_cast<char>(heard::nothing));
        add_rules_of(it.pack, *this);
    }

    sp::tensor_needs declare(sp::tensor_info const& tensor) override {
        sp::tensor_needs all = hidden_pack::declare(tensor);
        sp::stats_mask const own = sd::diagnoser::needs(tensor);
        if (!any(own)) { return all; }
        bool there = watch(tensor.id);
        for (sd::diagnoser& each : diagnosers_) { there = there && each.declare(tensor); }
        if (!there) { return sp::tensor_needs::without_memory(); }
        all.mask |= own;
        return all;
    }
    void observe(sp::observation const& it) override {
        for (sd::diagnoser& each : diagnosers_) { each.observe(it); }
        hidden_pack::observe(it);
    }
    sp::truth close(sp::step_id step, sp::findings&) override {
        for (sd::diagnoser& each : diagnosers_) { each.begin_close(); }
        each([&](sd::any_machine& machine, std::size_t place) {
            found_.clear();
            sp::truth const one = machine.close(step, found_);
            for (sd::diagnoser& each : diagnosers_) {
                if (one == sp::truth::yes) {
                    for (sp::finding const& found : found_) { each.note(place, found); }
                }
                if (decided(one)) { each.decided(place); }
            }
        });
        for (std::size_t i = 0; i < diagnosers_.size(); ++i) {
            found_.clear();
            if (diagnosers_[i].tell(step, found_) && step.index >= it_.onset) { note((*it_.heard)[i]); }
        }
        return sp::truth::no;
    }

private:
    // The first alarm is its strongest finding, the earliest of equals.
    void note(char& into) const {
        sp::finding const* first = nullptr;
        for (sp::finding const& each : found_) {
            if (first == nullptr || each.severity > first->severity) { first = &each; }
        }
        bool const alarm = first != nullptr && first->severity >= sp::severity::warning;
        if (!alarm || into != static_cast<char>(heard::nothing)) { return; }
        bool const right = is_symptom({std::string{first->rule}, std::string{first->reason}, {}, 0, 0}, it_.broken);
        into = static_cast<char>(right ? heard::right : heard::another);
    }

    candidate_packs it_;
    std::vector<sd::diagnoser> diagnosers_{};
    sp::findings found_{};
};

template <sd::pack_id Which>
sd::diagnosed_pack* as_it_is() {
    return static_cast<sd::diagnosed_pack*>(sd::make_pack<Which>());
}
sd::diagnosed_pack* made(own_pack_rules const& it) {
    if (it.limits) {
        auto* const pack = new sd::diagnosed_pack{sd::has_objective(it.pack), *it.limits};
        add_rules_of(it.pack, *pack);
        return pack;
    }
    return it.pack == sd::pack_id::rl         ? as_it_is<sd::pack_id::rl>()
           : it.pack == sd::pack_id::boosting ? as_it_is<sd::pack_id::boosting>()
                                              : as_it_is<sd::pack_id::supervised>();
}

}  // namespace

}  // namespace diagnosis

namespace spotter::inline SPOTTER_ABI {

machine<diagnosis::candidate_packs>::machine(diagnosis::candidate_packs const& it)
    : detail::any_machine_owner{new diagnosis::many_diagnosed{it}} {}

machine<diagnosis::own_pack_rules>::machine(diagnosis::own_pack_rules const& it) : machine{it, diagnosis::made(it)} {}
machine<diagnosis::own_pack_rules>::machine(diagnosis::own_pack_rules const& it, detail::diagnosed_pack* pack)
    : detail::any_machine_owner{pack}, like_{it}, pack_{pack} {}

truth machine<diagnosis::own_pack_rules>::close(step_id step, findings& out) {
    truth const answer = any_machine_owner::close(step, out);
    diagnosis::pack_notes& notes = *like_.notes;
    notes.close = step;
    bool alarm = false, leads = false;
    for (finding const& each : out) {
        alarm = alarm || each.severity >= severity::warning;
        leads = leads || each.leads;
    }
    if (alarm && step.index >= like_.onset && !notes.alarm) {
        notes.alarm = step;
        if (leads) { notes.seen = pack_->seen(); }
    }
    return answer;
}

}  // namespace spotter::inline SPOTTER_ABI
