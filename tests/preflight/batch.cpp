// SPDX-License-Identifier: Apache-2.0
// What a batch can show: inputs, labels, outputs, and one sample beside another.
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

using net_type = perceptron<>;

preflight_options<net_type> handles() {
    preflight_options<net_type> made;
    made.inputs = [](net_type& it) -> auto& { return it.x; };
    made.outputs = [](net_type& it) -> auto& { return it.logits; };
    made.labels = [](net_type& it) -> auto& { return it.y; };
    return made;
}

// One dense layer behind a normalisation over the batch, with running means, in training and in evaluation.
struct normalised_batch {
    static constexpr std::size_t in = 3, samples = 8;
    std::vector<float> w = {0.5F, -0.3F, 0.8F}, g = std::vector<float>(3), mean = std::vector<float>(3), x{},
                       out = std::vector<float>(samples);
    bool training = true, hears_mode = true, mixes = false;
    normalised_batch() {
        prng random;
        for (std::size_t i = 0; i < in * samples; ++i) { x.push_back(static_cast<float>(random.next())); }
    }
    float forward_backward() {
        g.assign(3, 0.0F);
        std::vector<float> z = x;
        for (std::size_t j = 0; j < in; ++j) {
            float of = 0;
            for (std::size_t i = 0; i < samples; ++i) { of += x[i * in + j] / samples; }
            if (training) { mean[j] = 0.9F * mean[j] + 0.1F * of; }
            float const taken = training || !hears_mode ? of : mean[j];
            for (std::size_t i = 0; i < samples; ++i) { z[i * in + j] -= taken; }
        }
        if (mixes) {
            for (std::size_t i = 0; i < z.size(); ++i) { z[i] = x[i % in * samples + i / in]; }
        }
        float loss = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            float total = 0;
            for (std::size_t j = 0; j < in; ++j) { total += z[i * in + j] * w[j]; }
            out[i] = std::tanh(total);
            float const gap = out[i] - (i % 3 == 0 ? 0.5F : -0.2F);
            loss += gap * gap / samples;
            for (std::size_t j = 0; j < in; ++j) { g[j] += 2 * gap * (1 - out[i] * out[i]) * z[i * in + j] / samples; }
        }
        return loss;
    }
    void update() {
        for (std::size_t j = 0; j < in; ++j) { w[j] -= 0.1F * g[j]; }
    }
};
template <class Visit>
void visit_tensors(normalised_batch const& it, Visit visit) {
    visit("w", it.w), visit("grad/w", it.g);
}
preflight_options<normalised_batch> batch_handles(bool modes) {
    preflight_options<normalised_batch> made;
    made.inputs = [](normalised_batch& it) { return view_of(it.x, {normalised_batch::samples, normalised_batch::in}); };
    made.outputs = [](normalised_batch& it) { return view_of(it.out, {normalised_batch::samples, std::size_t{1}}); };
    if (modes) {
        made.training = [](normalised_batch& it, bool on) { it.training = on; };
    }
    return made;
}

}  // namespace

TEST_CASE("tensors that a net shows by their roles are read without a handle") {
    net_type constant;
    for (std::size_t i = net_type::in; i < constant.x.size(); ++i) {
        constant.x.values[i] = constant.x.values[i - net_type::in];
    }
    CHECK(examined(constant).first() == preflight_cause::inputs_constant);
    net_type raw;
    for (float& each : raw.x.values) { each = 100 + 50 * each; }
    preflight_result const found = examined(raw);
    CHECK(found.first() == preflight_cause::input_not_normalized);
    CHECK(found.all()[0].finding.measured > 50);
    for (float& each : raw.w3.values) { each *= 1e3F; }  // exp is infinite
    preflight_result const lost = examined(raw);
    CHECK(lost.first() == preflight_cause::non_finite);
    CHECK(lost.find(preflight_cause::input_not_normalized) != nullptr);
}

TEST_CASE("inputs and labels that the loss does not read are reported; those that a pass fills by itself are not") {
    net_type blind;
    matrix<float> unseen = blind.x;
    preflight_options<net_type> choices = handles();
    choices.inputs = [&unseen](net_type&) -> auto& { return unseen; };
    CHECK(examined(blind, choices).find(preflight_cause::inputs_ignored) != nullptr);
    CHECK(unseen.values == blind.x.values);
    net_type deaf;
    std::vector<int> unread = deaf.y;
    choices = handles();
    choices.labels = [&unread](net_type&) -> auto& { return unread; };
    CHECK(examined(deaf, choices).find(preflight_cause::labels_ignored) != nullptr);
    CHECK(unread == deaf.y);
    net_type kept;
    kept.before_loss = [](net_type& it) { it.y.assign(net_type::samples, 1), it.y[3] = 0; };  // filled anew
    CHECK(examined(kept, handles()).find(preflight_cause::labels_ignored) == nullptr);
}

TEST_CASE("labels that are no class, all the same, or of equal inputs different") {
    net_type high;
    high.y[5] = 3;
    preflight_result const beyond = examined(high, handles());
    CHECK(beyond.first() == preflight_cause::label_out_of_range);
    CHECK(beyond.all()[0].finding.measured == 3);
    net_type left_out;
    left_out.y[5] = -100;  // what is not to count, as libtorch has it
    CHECK(examined(left_out, handles()).find(preflight_cause::label_out_of_range) == nullptr);
    net_type same;
    same.y.assign(net_type::samples, 1);
    CHECK(examined(same, handles()).find(preflight_cause::labels_constant) != nullptr);
    net_type torn;
    std::copy_n(torn.x.values.begin(), net_type::in, torn.x.values.begin() + net_type::in);
    torn.y[0] = 0, torn.y[1] = 2;
    preflight_result const found = examined(torn, handles());
    CHECK(!found);
    CHECK(found.find(preflight_cause::labels_contradict) != nullptr);
}

TEST_CASE("a softmax along the batch and a softmax of probabilities are reported") {
    net_type along;
    along.before_loss = [](net_type& it) {
        for (std::size_t c = 0; c < net_type::classes; ++c) {
            float total = 0;
            for (std::size_t i = 0; i < net_type::samples; ++i) {
                total += it.logits(i, c) = std::exp(it.logits(i, c));
            }
            for (std::size_t i = 0; i < net_type::samples; ++i) { it.logits(i, c) /= total; }
        }
    };
    CHECK(examined(along, handles()).find(preflight_cause::softmax_over_batch) != nullptr);
    net_type twice;
    twice.before_loss = [](net_type& it) {
        for (std::size_t i = 0; i < net_type::samples; ++i) {
            float total = 0;
            for (std::size_t c = 0; c < net_type::classes; ++c) {
                total += it.logits(i, c) = std::exp(it.logits(i, c));
            }
            for (std::size_t c = 0; c < net_type::classes; ++c) { it.logits(i, c) /= total; }
        }
    };
    preflight_result const found = examined(twice, handles());
    REQUIRE(found.find(preflight_cause::softmax_twice) != nullptr);
    CHECK(found.find(preflight_cause::softmax_twice)->finding.severity == severity::error);
    net_type once;
    CHECK(!examined(once, handles()));
}

TEST_CASE("a first loss far above that of a guess is reported") {
    net_type net;
    for (float& each : net.w3.values) { each *= 20; }
    net.rate = 1e-4F;
    preflight_result const found = examined(net, handles());
    INFO(found);
    CHECK(found.find(preflight_cause::initial_loss) != nullptr);
}

TEST_CASE("batch statistics are a habit in training, a fault in evaluation; samples that are mixed are one anywhere") {
    normalised_batch right;
    preflight_result const fine = examined(right, batch_handles(true));
    CHECK(!fine);
    CHECK(fine.find(preflight_cause::batch_statistics) != nullptr);
    preflight_result const unsaid = examined(right, batch_handles(false));
    CHECK(!unsaid);
    CHECK(unsaid.find(preflight_cause::samples_coupled) != nullptr);
    normalised_batch deaf;
    deaf.hears_mode = false;
    CHECK(examined(deaf, batch_handles(true)).first() == preflight_cause::batch_statistics_in_evaluation);
    normalised_batch mixed;
    mixed.mixes = true;
    CHECK(examined(mixed, batch_handles(false)).first() == preflight_cause::batch_mixed);
}

TEST_CASE("what a pass keeps of an earlier batch shows where another one went before") {
    net_type net;
    net.spoils = [kept = matrix<float>{}](net_type& it) mutable {  // the first layer's input of the first pass
        if (kept.size() == 0) { kept = it.x; }
        for (std::size_t k = 0; k < net_type::in; ++k) {
            for (std::size_t j = 0; j < net_type::units; ++j) { it.g1(k, j) *= kept(0, k) / it.x(0, k); }
        }
    };
    CHECK(examined(net, handles()).first() == preflight_cause::stale_batch);
}

TEST_CASE("random numbers that the net holds are rewound, those that a seed rules are seeded, and in evaluation there "
          "must be none") {
    auto const drops = [](bool in_evaluation) {
        return [in_evaluation](net_type& it) {
            if (it.rate < 0 && !in_evaluation) { return; }
            for (float& each : it.logits.values) { each *= it.random.next() > 0.5 ? 0.0F : 1.0F; }
        };
    };
    net_type net;
    net.before_loss = drops(false);
    net.spoils = [](net_type& it) { it.clear(); };
    preflight_options<net_type> choices = handles();
    choices.training = [](net_type& it, bool on) { it.rate = on ? 0.1F : -0.1F; };
    CHECK(examined(net, choices).find(preflight_cause::random_in_evaluation) == nullptr);
    net.before_loss = drops(true);
    choices = handles();
    choices.training = [](net_type& it, bool on) { it.rate = on ? 0.1F : -0.1F; };
    CHECK(examined(net, choices).find(preflight_cause::random_in_evaluation) != nullptr);
}

TEST_CASE("on request a copy is trained on the one batch, and labels that belong to other samples are reported as "
          "statistics") {
    using large = perceptron<>;
    large net;
    net.rate = 0.5F;
    preflight_options<large> choices;
    choices.overfit = true;
    preflight_result const fine = examined(net, choices);
    CHECK(!fine);
    CHECK(fine.updates() >= 200);
    large stuck;  // whatever it gains it gives back
    stuck.updates = [back = false](large& it) mutable {
        for (std::size_t k = 0; k < 5; ++k) {
            for (std::size_t i = 0; i < it.weights()[k]->size(); ++i) {
                (*it.weights()[k])[i] += (back ? 0.001F : -0.001F) * (*it.gradients()[k])[i];
            }
        }
        back = !back;
    };
    preflight_options<large> again;
    again.overfit = true;
    preflight_result const found = examined(stuck, again);
    INFO(found);
    CHECK(found.find(preflight_cause::cannot_overfit) != nullptr);
}
