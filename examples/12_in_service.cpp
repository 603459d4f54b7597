// SPDX-License-Identifier: Apache-2.0
// A trained net in service. An envelope of its statistics is learned once and kept in a file. Later the inputs drift:
// that is reported, and from then on the record also keeps the requests.
#include "common/regression.hpp"

#include <spotter/replay.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/report.hpp>
#include <spotter/rule/builtin/drift.hpp>
#include <spotter/spotter.hpp>

namespace sp = spotter;

constexpr sp::plan keep{sp::collection{"service", "*", sp::during{sp::mode::predict}, sp::stats(sp::mean, sp::stddev)}};
constexpr sp::plan requests{sp::collection{"requests", "input", sp::always{}, sp::payload}};

// Answers `count` batches of requests, whose first input is `shift` larger from batch `from` on.
template <class Hook>
void serve(example::regression& net, Hook& watch, std::uint64_t count, std::uint64_t from, float shift,
           std::uint64_t seed) {
    example::prng random{seed};
    for (std::uint64_t i = 0; i < count; ++i) {
        for (float& x : net.input.values) { x = random.uniform(-1.0F, 1.0F); }
        for (std::size_t r = 0; i >= from && r < net.batch; ++r) { net.input(r, 0) += shift; }
        example::multiply(net.input, net.w1, net.hidden);
        for (float& h : net.hidden.values) { h = h > 0 ? h : 0; }
        example::multiply(net.hidden, net.w2, net.output);
        watch.begin(sp::predict(i));
        watch.observe("input", net.input);
        watch.observe("act/fc1", net.hidden);
        watch.observe("output", net.output);
        if (auto const found = watch.end()) { fmt::print("{}\n", found); }
    }
}

int main() {
    sp::options const replace{.existing = sp::existing::replace};
    example::regression net;
    for (int i = 0; i < 500; ++i) {
        net.forward_backward();
        net.update();
    }
    {
        sp::hook watch{"runs/proving", keep, replace};
        serve(net, watch, 1000, 1000, 0, 1);
    }
    sp::trial const proved = sp::open_trial("runs/proving").value();
    sp::envelope const learned = sp::learn_envelope(proved, {sp::mean, sp::stddev}, {.window = 32});
    if (auto const why = sp::save_envelope(learned, "runs/in_service.envelope")) { return fmt::print("{}\n", why), 1; }

    sp::envelope const healthy = sp::load_envelope("runs/in_service.envelope").value();
    {
        sp::hook watch{"runs/service", keep,
                       sp::on(sp::drift{.healthy = &healthy} | sp::once, sp::capture{requests, 5}), replace};
        serve(net, watch, 1000, 600, 0.25F, 2);
    }
    sp::trial const service = sp::open_trial("runs/service").value();
    auto const kept = service["input"].payload_steps();
    if (service.findings().size() != 1 || kept.size() != 5) { return 1; }
    fmt::print("told at request batch {}, kept from {} on\n", service.findings()[0].step.index, kept.front().index);
    return service.findings()[0].step.index >= 600 ? 0 : 1;
}
