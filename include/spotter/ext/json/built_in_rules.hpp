// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: the packs by name, in addition to the catalogue.
#pragma once

#include <spotter/ext/json/members.hpp>
#include <spotter/rules.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

template <>
inline constexpr std::size_t member_count<nlp_sequence_ratio> = 5;

// Calls use(name, pack) for each pack.
template <class Use>
void each_pack(Use&& use) {
    use(std::string_view{"supervised"}, packs::supervised);
    use(std::string_view{"rl"}, packs::rl);
    use(std::string_view{"boosting"}, packs::boosting);
    use(std::string_view{"system"}, packs::system);
    use(std::string_view{"sagemaker"}, packs::sagemaker);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
