// SPDX-License-Identifier: Apache-2.0
// Examines a loop before it trains: a hand-written net with five bugs that a loss curve does not show. Each is proven
// on copies of the net and named with its place; then the net without them is trained.
#include "common/matrix.hpp"
#include "common/prng.hpp"

#include <spotter/preflight.hpp>
#include <spotter/print.hpp>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace sp = spotter;

namespace {

using example::matrix;

enum class bug { none, mask_forgotten, transposed, never_cleared, left_out, sum_of_batch };

// Two hidden layers with ReLU; the one output is the sine of the first input times the second input.
struct network {
    static constexpr std::size_t inputs = 2, units = 12, batch = 48;

    matrix w1{inputs, units}, w2{units, units}, w3{units, 1};
    std::vector<float> b1 = std::vector<float>(units), b2 = b1;
    matrix grad_w1{inputs, units}, grad_w2{units, units}, grad_w3{units, 1};
    std::vector<float> grad_b1 = b1, grad_b2 = b1;
    matrix input{batch, inputs}, act1{batch, units}, act2{batch, units}, output{batch, 1};
    float learning_rate = 0.05F;
    bug has = bug::none;

    explicit network(bug what = bug::none) : has(what) {
        for (float& w : w1.values) { w = random_.uniform(-1.0F, 1.0F); }
        for (float& w : w2.values) { w = random_.uniform(-0.6F, 0.6F); }
        for (float& w : w3.values) { w = random_.uniform(-0.4F, 0.4F); }
    }

    // A new batch, forward and backward; returns the mean squared error.
    float forward_backward() {
        if (has != bug::never_cleared) { grad_b1.assign(units, 0.0F), grad_b2.assign(units, 0.0F); }
        for (float& x : input.values) { x = random_.uniform(-1.0F, 1.0F); }
        dense(input, w1, b1, act1), dense(act1, w2, b2, act2);
        multiply(act2, w3, output);
        matrix slope{batch, 1};
        float loss = 0;
        for (std::size_t r = 0; r < batch; ++r) {
            float const gap = output(r, 0) - std::sin(3 * input(r, 0)) * input(r, 1);
            loss += gap * gap / batch;
            slope(r, 0) = has == bug::sum_of_batch ? 2 * gap : 2 * gap / batch;
        }
        multiply(transposed(act2), slope, grad_w3);
        matrix back2, back1;
        multiply(slope, transposed(w3), back2);
        mask(back2, act2);
        multiply(transposed(act1), back2, grad_w2);
        if (has == bug::transposed) { grad_w2 = transposed(grad_w2); }
        add_columns(back2, grad_b2);
        multiply(back2, transposed(w2), back1);
        if (has != bug::mask_forgotten) { mask(back1, act1); }
        multiply(transposed(input), back1, grad_w1);
        add_columns(back1, grad_b1);
        return loss;
    }

    void update() {
        descend(w1.values, grad_w1.values), descend(b1, grad_b1);
        if (has != bug::left_out) { descend(w2.values, grad_w2.values); }
        descend(b2, grad_b2), descend(w3.values, grad_w3.values);
    }

private:
    static void dense(matrix const& x, matrix const& w, std::vector<float> const& b, matrix& act) {
        multiply(x, w, act);
        add_to_rows(act, b);
        for (float& each : act.values) { each = each > 0 ? each : 0; }
    }
    static void mask(matrix& slope, matrix const& act) {
        for (std::size_t i = 0; i < slope.size(); ++i) { slope.values[i] = act.values[i] > 0 ? slope.values[i] : 0; }
    }
    static void add_columns(matrix const& slope, std::vector<float>& sums) {
        for (std::size_t i = 0; i < slope.size(); ++i) { sums[i % slope.cols] += slope.values[i]; }
    }
    void descend(std::vector<float>& w, std::vector<float> const& g) const {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] -= learning_rate * g[i]; }
    }

    example::prng random_{1};  // in the net, so that a copy draws the same batch
};

// As for a hook, from input to output. A gradient's name is "grad/" and its weight's name.
template <class Visit>
void visit_tensors(network const& net, Visit visit) {
    visit("fc1/w", net.w1), visit("fc1/b", net.b1), visit("fc2/w", net.w2), visit("fc2/b", net.b2);
    visit("out/w", net.w3);
    visit("grad/fc1/w", net.grad_w1), visit("grad/fc1/b", net.grad_b1);
    visit("grad/fc2/w", net.grad_w2), visit("grad/fc2/b", net.grad_b2), visit("grad/out/w", net.grad_w3);
}

sp::preflight_result examine(network& net) {
    return sp::preflight(
        net, [](auto& n) { return n.forward_backward(); }, [](auto& n) { n.update(); }, {.batch = network::batch});
}

struct expected {
    bug what;
    sp::preflight_cause cause;
    std::string_view place;
};

}  // namespace

int main() {
    constexpr expected planted[] = {
        {bug::mask_forgotten, sp::preflight_cause::wrong_backward, "fc1/b"},  // between fc1/b and fc2/w
        {bug::transposed, sp::preflight_cause::wrong_backward, "fc2/w"},      // it is transposed
        {bug::never_cleared, sp::preflight_cause::gradient_not_cleared, "fc1/b"},
        {bug::left_out, sp::preflight_cause::dead_update_path, "fc2/w"},
        {bug::sum_of_batch, sp::preflight_cause::sum_for_mean, "all"},
    };
    int missed = 0;
    for (expected const& each : planted) {
        network broken{each.what};
        auto const found = examine(broken);
        sp::print(found);
        missed += found.first() == each.cause && found.all()[0].finding.tensor == each.place ? 0 : 1;
    }

    network net;
    auto const found = examine(net);
    auto const said = found.sentence();
    std::printf("%.*s\n", static_cast<int>(said.view().size()), said.view().data());
    if (found) { return 1; }  // the net is correct, so there must be no finding
    float loss = 0;
    for (int i = 0; i < 3000; ++i) {
        loss = net.forward_backward();
        net.update();
    }
    std::printf("loss %.4f\n", static_cast<double>(loss));
    return missed == 0 && loss < 0.05F ? 0 : 1;
}
