// SPDX-License-Identifier: Apache-2.0
// The light umbrella, for files that only observe or judge: core, stat, plan, rule, hook. Includes no third-party
// header.
#pragma once

#include <spotter/hook/hook.hpp>
#include <spotter/hook/names.hpp>
#include <spotter/hook/null_hook.hpp>
#include <spotter/hook/observer.hpp>
#include <spotter/hook/optimizer.hpp>
#include <spotter/hook/table.hpp>
