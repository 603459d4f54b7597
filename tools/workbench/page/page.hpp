// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the parts of a page so far.
#pragma once

#include "page/section.hpp"

#include <span>

namespace spotter::inline SPOTTER_ABI::html::detail {

struct page {
    std::span<std::string const> wanted{};  // ids of sections; empty: all
    std::string navigation{};
    std::string body{};
    std::vector<std::string> ids{};  // of all existing sections, "findings-2" as "findings" and as itself

    void add(section const& it, std::string const& id_end = {}, std::string const& of = {});
    void note(std::string_view text);
};

}  // namespace spotter::inline SPOTTER_ABI::html::detail
