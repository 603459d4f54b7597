// SPDX-License-Identifier: Apache-2.0
// The loops of docs/cookbook.md that need no library, run unchanged on healthy nets: no loop stops early, and each
// leaves a finished record with its losses.
#include <tests/catch.hpp>
#include <tests/pages/cookbook/stand_ins.hpp>
#include <tests/pages/planted.hpp>

#include "cookbook_head_includes.inc"
#include "cookbook_resumed_includes.inc"
#include "cookbook_threads_includes.inc"

#include <spotter/rules.hpp>
#include <spotter/trial.hpp>

#include <optional>
#include <vector>

namespace cookbook {

#include "cookbook_head.inc"

using my_net = stand_in::own_net;

// The net of the examples with a name of its own.
struct named_net : example::regression {
    std::string name;
    explicit named_net(std::string called) : name{std::move(called)} {}
};
template <class Visit>
void visit_tensors(named_net const& net, Visit visit) {
    visit(net.name + ".fc1.weight", net.w1);
    visit("grad/" + net.name + ".fc1.weight", net.grad_w1);
    visit(net.name + ".fc2.weight", net.w2);
    visit("grad/" + net.name + ".fc2.weight", net.grad_w2);
}

struct net : example::regression {
    example::matrix sum1{inputs, units}, sum2{units, 1};
    int updates = 0;

    using example::regression::forward_backward;
    void clear_gradients() {
        std::fill(sum1.values.begin(), sum1.values.end(), 0.0F);
        std::fill(sum2.values.begin(), sum2.values.end(), 0.0F);
    }
    // Part of a batch: gradients accumulate.
    float forward_backward(int) {
        float const loss = example::regression::forward_backward();
        for (std::size_t i = 0; i < sum1.size(); ++i) { sum1.values[i] += grad_w1.values[i] / 4; }
        for (std::size_t i = 0; i < sum2.size(); ++i) { sum2.values[i] += grad_w2.values[i] / 4; }
        grad_w1 = sum1, grad_w2 = sum2;
        return loss;
    }
    float forward_backward(double) { return example::regression::forward_backward(); }
    void update() {
        ++updates;
        example::regression::update();
    }
};
struct loader {
    int next() { return 0; }
};
struct scaler {
    [[nodiscard]] double scale() const { return 1024; }
    bool unscale(net&) {
        ++steps;
        return steps % 500 != 0;
    }
    int steps = 0;
};

// A net that takes one sample of 784 numbers, and a stream of such samples.
struct online_net : example::regression {
    float forward_backward(std::vector<float> const&) { return example::regression::forward_backward(); }
};
template <class Visit>
void visit_tensors(online_net const& net, Visit visit) {
    visit("fc1/w", net.w1);
    visit("grad/fc1/w", net.grad_w1);
}
struct stream {
    example::prng random{3};
    std::vector<float> sample = std::vector<float>(784);
    int left = 300;
    [[nodiscard]] bool more() { return left-- > 0; }
    std::vector<float> const& next() {
        for (float& each : sample) { each = random.uniform(-1.0F, 1.0F); }
        return sample;
    }
};

// A net that also has its update, the gradient times the rate.
struct scaled_net : stand_in::own_net {
    std::vector<float> delta = std::vector<float>(256 * 784);
    float forward_backward() {
        float const loss = stand_in::own_net::forward_backward();
        for (std::size_t i = 0; i < delta.size(); ++i) { delta[i] = 0.01F * gradients[i]; }
        return loss;
    }
    void subtract_delta() {
        for (std::size_t i = 0; i < delta.size(); ++i) { weights[i] -= delta[i]; }
    }
};

struct engine {
    int frames = 300;
    bool running() { return frames-- > 0; }
};

// Eight environments; each episode's return is a little higher than the one before.
struct world {
    std::size_t environments = 8, width = 4;
    std::vector<float> observations = std::vector<float>(32);
    example::prng random{9};
    int plays = 0;
    template <class Policy>
    std::vector<float> play(Policy&) {
        for (float& each : observations) { each = random.uniform(-1.0F, 1.0F); }
        ++plays;
        if (plays % 5 != 0) { return {}; }
        return {static_cast<float>(plays) * 0.01F, static_cast<float>(plays) * 0.01F + random.uniform(0.0F, 0.1F)};
    }
};
struct ppo_update {
    float approx_kl = 0.01F, entropy = 1.0F, explained_variance = 0.5F, policy_loss = -0.01F, value_loss = 0.1F;
};
struct policy : named_net {
    policy() : named_net{"actor"} {}
    ppo_update forward_backward(world const&) {
        ppo_update made;
        made.value_loss = example::regression::forward_backward();
        return made;
    }
};

template <class Hook>
void train_one(Hook& watch, named_net& it) {
    for (std::uint64_t i = 0; i < 200; ++i) {
        float const loss = it.forward_backward();
        if (watch.step(sp::train(i), it, "loss"_t = loss).decision() == sp::decision::proceed) { it.update(); }
    }
}

#include "cookbook_accumulated.inc"
#include "cookbook_gan.inc"
#include "cookbook_in_engine.inc"
#include "cookbook_mixed.inc"
#include "cookbook_online.inc"
#include "cookbook_own_net.inc"
#include "cookbook_ppo.inc"
#include "cookbook_resumed.inc"
#include "cookbook_scaled.inc"
#include "cookbook_threads.inc"

}  // namespace cookbook

using namespace cookbook;
using pages::somewhere_else;

namespace {

// The number of recorded training steps of all workers together.
std::size_t steps_of(std::string const& path) {
    sp::trial const run = sp::open_trial(path).value();
    CHECK(run.status() == sp::run_status::finished);
    return run.steps(sp::mode::train).size();
}

}  // namespace

TEST_CASE("loops of the cookbook run to their end, and their records are whole") {
    somewhere_else const folder;
    SECTION("a net behind pointers") {
        my_net it;
        it.weights.assign(it.weights.size(), 0.1F);
        train_own_net(it);
        CHECK(steps_of("runs/a") == static_cast<std::size_t>(it.passes));
    }
    SECTION("two nets") {
        named_net d{"netD"}, g{"netG"};
        train_gan(d, g);
        CHECK(steps_of("runs/gan") == 1000);
    }
    SECTION("accumulation, one step an update") {
        net it;
        loader from;
        train_accumulated(it, from);
        CHECK((steps_of("runs/accumulated") == 1000 && it.updates == 1000));
    }
    SECTION("mixed precision: a step that the scaler skips is a step") {
        net it;
        scaler by;
        train_mixed(it, by);
        CHECK((steps_of("runs/mixed") == 1000 && it.updates == 998));
    }
    SECTION("threads") {
        std::vector<named_net> nets{named_net{"a"}, named_net{"b"}, named_net{"c"}};
        train_threads(nets);
        CHECK((steps_of("runs/threads") == 200 && sp::open_trial("runs/threads").value().workers().size() == 3));
    }
    SECTION("a run that was cut off goes on behind its last good checkpoint") {
        {
            net first;
            sp::checkpoints kept{"runs/resumed.checkpoints", {.keep = 2}};
            sp::hook watch{"runs/resumed", keep, sp::packs::supervised};
            for (std::uint64_t i = 0; i < 250; ++i) {
                float const loss = first.forward_backward();
                (void)watch.step(sp::train(i), first, "loss"_t = loss);
                first.update();
                if (i % 100 == 99) { (void)kept.save(watch, sp::train(i), first); }
            }
            watch.fail("cut off");
        }
        net it;
        train_resumed(it, sp::existing::resume);
        CHECK(it.updates == 900);  // from 100 on: that of step 199 was not proven yet
        sp::trial const run = sp::open_trial("runs/resumed").value();
        CHECK(run.status() == sp::run_status::finished);
        CHECK(run.steps(sp::mode::train).size() == 1000);
        net other;
        train_resumed(other);  // once more, behind a finished one: from the beginning
        CHECK(other.updates == 1000);
        CHECK(steps_of("runs/resumed-2") == 1000);
    }
    SECTION("a sample a step") {
        online_net it;
        stream from;
        train_online(it, from);
        CHECK(steps_of("runs/online") == 300);
    }
    SECTION("rate times gradient") {
        scaled_net it;
        train_scaled(it, 0.01F);
        CHECK(steps_of("runs/scaled") == static_cast<std::size_t>(it.passes));
    }
    SECTION("an engine") {
        net it;
        engine drives;
        train_in_engine(it, drives);
        CHECK(steps_of("runs/engine") == 300);
    }
    SECTION("environments") {
        policy it;
        world around;
        train_ppo(it, around);
        CHECK(steps_of("runs/ppo") == 1000);
    }
}
