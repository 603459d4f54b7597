// SPDX-License-Identifier: Apache-2.0
// Three-valued truth in constant expressions: Kleene's values with an undecided operand.
#include <spotter/core/algebra.hpp>

using spotter::truth;

static_assert(conjunction(truth::no, truth::undecided) == truth::no);
static_assert(conjunction(truth::yes, truth::undecided) == truth::undecided);
static_assert(disjunction(truth::yes, truth::undecided) == truth::yes);
static_assert(disjunction(truth::no, truth::undecided) == truth::undecided);
static_assert(negation(truth::undecided) == truth::undecided);
