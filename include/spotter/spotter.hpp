// SPDX-License-Identifier: Apache-2.0
// Umbrella for a program that trains: the hook, and the recorder for `hook{"runs/a", plan, rules...}`. It includes
// `any`, `all` and `fraction`, but no built-in rules. For those include spotter/packs.hpp (packs), spotter/rules.hpp
// (all rules) or a header of spotter/rule/builtin/ (one rule).
#pragma once

#include <spotter/hook.hpp>
#include <spotter/record/recorded_hook.hpp>
