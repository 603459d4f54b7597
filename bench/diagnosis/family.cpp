// SPDX-License-Identifier: Apache-2.0
// The registry of families.
#include "family.hpp"

#include <algorithm>
#include <utility>

namespace diagnosis {

namespace {

// In a function, because families are added before main begins, in no order that could be relied on.
std::vector<family>& registry() {
    static std::vector<family> all;
    return all;
}

}  // namespace

std::vector<family> const& families() { return registry(); }

bool add_family(family it) {
    std::vector<family>& all = registry();
    auto const behind = [](std::string_view name, family const& each) { return name < each.name; };
    all.insert(std::upper_bound(all.begin(), all.end(), it.name, behind), std::move(it));
    return true;
}

family const* family_named(std::string_view name) {
    for (family const& each : families()) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

}  // namespace diagnosis
