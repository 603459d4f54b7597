// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies behind spotter.hpp, rules.hpp, print.hpp, trial.hpp, replay.hpp and response.hpp.
#include <spotter/implementation.hpp>
