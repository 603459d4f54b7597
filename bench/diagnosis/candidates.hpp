// SPDX-License-Identifier: Apache-2.0
// The rules of a pack, run once for many diagnosers, each with limits of its own; and a pack whose signs are noted.
#pragma once

#include "limits.hpp"

#include <spotter/diagnosis/diagnosed_pack.hpp>
#include <spotter/diagnosis/packs.ipp>
#include <spotter/rule/machine.hpp>

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace diagnosis {

// A rule that alarms nobody: it writes down what each candidate would have reported.
struct candidate_packs {
    using kind = spotter::rule_kind;

    spotter::detail::pack_id pack{};
    fault broken{};
    std::uint64_t onset = 0;
    std::string* heard = nullptr;  // a letter a candidate
};

// The latest close of a pack, and its first alarm.
struct pack_notes {
    spotter::step_id close{};
    std::optional<spotter::step_id> alarm{};
    spotter::detail::signs seen{};  // at the alarm; none where the table of causes did not name it
};

// A pack as it is, or with other limits, that writes down what it saw.
struct own_pack_rules {
    using kind = spotter::rule_kind;

    spotter::detail::pack_id pack{};
    std::uint64_t onset = 0;  // alarms before do not count
    pack_notes* notes = nullptr;
    std::optional<diagnosis_limits> limits{};
};

}  // namespace diagnosis

namespace spotter::inline SPOTTER_ABI {

template <>
class machine<diagnosis::candidate_packs> : public detail::any_machine_owner {
public:
    explicit machine(diagnosis::candidate_packs const& it);
};
template <>
class machine<diagnosis::own_pack_rules> : public detail::any_machine_owner {
public:
    explicit machine(diagnosis::own_pack_rules const& it);
    truth close(step_id step, findings& out);

private:
    machine(diagnosis::own_pack_rules const& it, detail::diagnosed_pack* pack);

    diagnosis::own_pack_rules like_;
    detail::diagnosed_pack const* pack_;
};

}  // namespace spotter::inline SPOTTER_ABI
