// SPDX-License-Identifier: Apache-2.0
// Makes a page of a run, linked with spotter::workbench.
#include <spotter/spotter.hpp>
#include <spotter/workbench/diff.hpp>
#include <spotter/workbench/page.hpp>
#include <spotter/workbench/runs_table.hpp>

#if defined(FMT_VERSION)
#error "headers of the workbench include no fmt"
#endif

int main() {
    using namespace spotter;
    constexpr plan keep{collection{"all", "*", always{}, payload}};
    {
        hook watch{"run", keep, options{.existing = existing::replace}};
        if (watch.step(train(0), "loss"_t = 2.0)) { return 1; }
    }
    auto const run = open_trial("run");
    if (!run) { return 2; }
    if (to_html(*run).find("loss") == std::string::npos) { return 3; }
    auto const side = open_side("run");
    if (!side || !diff(*side, *side).value().equal()) { return 5; }
    return table_of(std::span{&*run, 1}).rows.size() == 1 ? 0 : 4;
}
