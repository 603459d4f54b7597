// SPDX-License-Identifier: Apache-2.0
// T4: the cost of a hook at a step at which nothing is due. For the cost of rules see rules.cpp.
#include "bench.hpp"

#include <spotter/hook.hpp>

using namespace spotter;

namespace {

constexpr plan keep{defaults::weights, defaults::gradients};

// As many small tensors as a step has, with names of realistic length.
struct network {
    std::vector<std::string> names;
    std::vector<std::vector<float>> values;

    explicit network(std::size_t count) : values(count, bench::weights(16)) {
        for (std::size_t i = 0; i < count; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    }
};

// Nanoseconds a tensor at steps that no collection keeps, after a step that met all tensors. Samples alternate:
// `observe(i)` for each tensor, and the same code without tensors. The difference is the cost of tensors; the latter is
// the cost of an empty step.
struct idle_time {
    double tensor = 0, empty_step = 0;

    template <class Hook, class Observe>
    idle_time(Hook& watch, std::size_t count, Observe&& observe) {
        std::uint64_t index = 0;
        auto const step = [&](std::size_t tensors) {
            watch.begin(train(index));
            for (std::size_t i = 0; i < tensors; ++i) { observe(i); }
            bench::do_not_optimise(watch.end());
            index += index % 500 == 499 ? 2 : 1;  // never a multiple of 500 again
        };
        step(count);
        std::size_t const steps_at_once = (std::max)(std::size_t{20'000} / count, std::size_t{1});
        bench::samples with, without;
        for (std::size_t i = 0; i < bench::rounds(300, 20); ++i) {
            for (std::size_t const tensors : {count, std::size_t{0}}) {
                std::size_t shown = tensors;
                bench::do_not_optimise(shown);
                (tensors > 0 ? with : without).time(steps_at_once, [&] { step(shown); });
            }
        }
        empty_step = without.median();
        tensor = (with.median() - empty_step) / static_cast<double>(count);
    }
};

void idle_hook(std::size_t count) {
    network const net{count};
    std::string const suffix = ", " + std::to_string(count) + " tensors a step";

    hook watch{keep};
    std::vector<tensor_handle> handles;
    for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
    idle_time const by_handle{watch, count, [&](std::size_t i) { watch.observe(handles[i], net.values[i]); }};
    // The control: the same loop, which makes the same views and tests one bit.
    std::uint64_t due = 0, seen = 0;
    bench::do_not_optimise(due);
    bench::samples walk;
    for (std::size_t round = 0; round < bench::rounds(300, 20); ++round) {
        walk.time((std::max)(std::size_t{20'000} / count, std::size_t{1}), [&] {
            for (std::size_t i = 0; i < count; ++i) {
                tensor_ref const view = as_tensor(net.values[i]);
                bench::do_not_optimise(due);
                if ((due & 1) != 0) { seen += view.count; }
            }
        });
    }
    bench::do_not_optimise(seen);
    std::string const control = bench::control("bare walk", walk.median() / static_cast<double>(count), "ns");
    bench::target("T4 idle hook by handle" + suffix, by_handle.tensor, "ns a tensor", bench::wanted::at_most, 1,
                  control);

    hook visited{keep};
    idle_time const by_name{visited, count, [&](std::size_t i) { visited.observe(net.names[i], net.values[i]); }};
    bench::target("T4 idle hook by name" + suffix, by_name.tensor, "ns a tensor", bench::wanted::at_most, 3, control);
    if (count == 1) { bench::figure("  an empty idle step, begin and end", by_name.empty_step, "ns"); }
}

}  // namespace

int main() {
    for (std::size_t const count : {1U, 100U, 10'000U}) { idle_hook(count); }
    return 0;
}
