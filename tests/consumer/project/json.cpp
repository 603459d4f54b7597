// SPDX-License-Identifier: Apache-2.0
// Compiles, links and runs with the component json.
#include <spotter/ext/json.hpp>

int main() { return spotter::parse_plan("{\"collections\": []}") ? 0 : 1; }
