// SPDX-License-Identifier: Apache-2.0
// Umbrella for a program that trains: the hook, and the recorder behind `hook{"runs/a", plan, rules...}`. `any`, `all`
// and `fraction` come with it; built-in rules do not: spotter/packs.hpp has them by the pack, spotter/rules.hpp all by
// name, spotter/rule/builtin/ each alone.
#pragma once

#include <spotter/hook.hpp>
#include <spotter/record/recorded_hook.hpp>
