// SPDX-License-Identifier: Apache-2.0
// [S27]
// expect: malformed_regular_expression_see_docs_plan
#include <spotter/plan/regex.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::regex wanted{"grad/(fc|conv)[0-9]+"};
#else
constexpr spotter::regex wanted{"grad/(fc|conv"};
#endif
