// SPDX-License-Identifier: Apache-2.0
// The rules of a pack, run once for many diagnosers, each with limits of its own.
#pragma once

#include "limits.hpp"

#include <spotter/diagnosis/diagnosed_pack.hpp>
#include <spotter/diagnosis/pack_rules.hpp>
#include <spotter/rule/machine.hpp>

#include <cstdint>
#include <new>
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

// A pack with other limits.
struct pack_with_limits {
    using kind = spotter::rule_kind;

    spotter::detail::pack_id pack{};
    diagnosis_limits limits{};
};

}  // namespace diagnosis

namespace spotter::inline SPOTTER_ABI {

template <>
class machine<diagnosis::candidate_packs> : public detail::any_machine_owner {
public:
    explicit machine(diagnosis::candidate_packs const& it);
};
template <>
class machine<diagnosis::pack_with_limits> : public detail::any_machine_owner {
public:
    explicit machine(diagnosis::pack_with_limits const& it);
};

}  // namespace spotter::inline SPOTTER_ABI
