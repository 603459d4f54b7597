// SPDX-License-Identifier: Apache-2.0
#include <spotter/ext/json.hpp>

int main() { return spotter::parse_plan("{\"collections\": []}") ? 0 : 1; }
