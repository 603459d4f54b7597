// SPDX-License-Identifier: Apache-2.0
// Workbench, page: what each head of each layer looks at.
#pragma once

#include "page/picture.hpp"
#include "page/section.hpp"
#include "page/values.hpp"

#include <spotter/rule/builtin/attention_heads.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// Of tensors called `attention/…` or `…/attention`, [head, query, key] or [batch, head, query, key], whose values were
// kept: at the last such step a picture a head, queries from the top, keys from the left, each row from 0 (white) to
// its largest (dark). Empty for a run that has none.
[[nodiscard]] section attention_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
