// SPDX-License-Identifier: Apache-2.0
// The built-in rules, one file each and explained in docs/rules.md, and the packs of them. Also quantifiers, series and
// pairs for rules of your own.
#pragma once

#include <spotter/diagnosis/packs.hpp>
#include <spotter/rule/builtin/catalogue.hpp>
#include <spotter/rule/pair.hpp>
#include <spotter/rule/quantify.hpp>
#include <spotter/rule/respond.hpp>
#include <spotter/rule/rule_pack.hpp>
#include <spotter/rule/series.hpp>
#include <spotter/rule/stop_flag.hpp>
