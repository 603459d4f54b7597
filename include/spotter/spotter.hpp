// SPDX-License-Identifier: Apache-2.0
// Umbrella for a program that trains: the hook, the built-in rules, and the recorder behind `hook{"runs/a", plan, rules...}`.
#pragma once

#include <spotter/hook.hpp>
#include <spotter/record/recorded_hook.hpp>
#include <spotter/rules.hpp>
