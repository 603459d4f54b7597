// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the attention of each head of each layer.
#pragma once

#include "page/picture.hpp"
#include "page/section.hpp"
#include "page/values.hpp"

#include <spotter/rule/builtin/attention_heads.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// For tensors named `attention/…` or `…/attention`, [head, query, key] or [batch, head, query, key], with recorded
// values: a picture of each head at the last such step, queries from top to bottom, keys from left to right, each row
// scaled from 0 (white) to its largest (dark). Empty for a run without any.
[[nodiscard]] section attention_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
