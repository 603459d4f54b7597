// SPDX-License-Identifier: Apache-2.0
// The callback for MiniDNN, on a framework of the same shape: what it observes and at which instant, and which answers
// a loop can follow.
#include <spotter/ext/minidnn.hpp>
#include <spotter/packs.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/ext/minidnn/framework.hpp>
#include <tests/hook/collect.hpp>
#include <tests/temporary_folder.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace spotter;
using spotter_test::collecting_sink;

namespace {

constexpr plan keep_all{collection{"all", "*", always{}, payload}};

// Batches of five samples of two numbers, each with its target: a number, or a class.
struct samples {
    std::vector<mini::matrix> x{}, y{};
    std::vector<std::vector<int>> classes{};

    explicit samples(int batches) {
        for (int b = 0; b < batches; ++b) {
            mini::matrix in{2, 5}, out{1, 5};
            std::vector<int> which;
            for (int n = 0; n < 5; ++n) {
                in(0, n) = std::sin(1.0 + 3.7 * (5 * b + n)), in(1, n) = std::cos(2.3 * (5 * b + n));
                out(0, n) = in(0, n) - 0.5 * in(1, n);
                which.push_back(in(0, n) > 0 ? 1 : 0);
            }
            x.push_back(in), y.push_back(out), classes.push_back(which);
        }
    }
};
void build(mini::Network& net) {
    net.add_layer(new mini::FullyConnected{2, 3, "ReLU"});
    net.add_layer(new mini::Scaling{3});
    net.add_layer(new mini::Passing{3});
    net.add_layer(new mini::FullyConnected{3, 1, "Identity"});
}
std::vector<double> all_parameters(mini::Network const& net) {
    std::vector<double> all;
    for (mini::Layer const* each : net.get_layers()) {
        auto const its = each->get_parameters();
        all.insert(all.end(), its.begin(), its.end());
    }
    return all;
}

}  // namespace

TEST_CASE("a mini-batch is a step: parameters before the update, activations, loss and gradients of the same instant") {
    spotter_test::temporary_folder const folder;
    samples const data{2};
    mini::Network net, twin;
    build(net), build(twin);
    {
        hook watch{folder / "run", keep_all};
        minidnn_callback<mini::Callback> callback{watch};
        net.set_callback(callback);
        net.fit(0.1, data.x, data.y, 1);
        CHECK(callback.steps() == 2);
        CHECK(callback.asked() == decision::proceed);
        CHECK(watch.health().good());
    }
    trial const run = open_trial(folder / "run").value();
    auto const values = [&](std::string const& name, step_id at) {
        return run[name].at(at).to<std::vector<double>>().value();
    };
    // Expected values of the first step: as `twin` computes them.
    mini::matrix const& x = data.x[0];
    auto const weights = twin.layer(0).get_parameters();
    std::vector<double> before{weights.begin(), weights.begin() + 6}, biases{weights.begin() + 6, weights.end()};
    CHECK(values("layer/0/w", train(0)) == before);  // {outputs, inputs}: W(in, out) column by column
    CHECK(values("layer/0/b", train(0)) == biases);
    CHECK(run["layer/0/w"].info().shape == extents{3, 2});
    twin.fit(0.1, std::vector{x}, std::vector{data.y[0]}, 1);
    auto const derivatives = twin.layer(0).get_derivatives(), after = twin.layer(0).get_parameters();
    CHECK(values("grad/layer/0/w", train(0)) == std::vector<double>{derivatives.begin(), derivatives.begin() + 6});
    CHECK(values("grad/layer/0/b", train(0)) == std::vector<double>{derivatives.begin() + 6, derivatives.end()});
    CHECK(values("layer/0/w", train(1)) == std::vector<double>{after.begin(), after.begin() + 6});
    CHECK(values("loss", train(0))[0] == twin.get_output()->loss());
    CHECK(values("layer/1/w", train(0)) == std::vector{1.5});  // one tensor: no weights and biases
    CHECK(values("grad/layer/1/w", train(0)) == twin.layer(1).get_derivatives());
    auto const rows_of = [](mini::matrix const& it) {
        std::vector<double> rows;
        for (int row = 0; row < it.rows(); ++row) {
            for (int col = 0; col < it.cols(); ++col) { rows.push_back(it(row, col)); }
        }
        return rows;
    };
    CHECK(values("input", train(0)) == rows_of(x));
    CHECK(values("label", train(0)) == rows_of(data.y[0]));
    CHECK(values("act/0", train(0)) == rows_of(twin.layer(0).output()));
    CHECK(values("pred", train(0)) == rows_of(twin.layer(3).output()));
    CHECK_FALSE(run.names().empty());
    for (std::string const& name : run.names()) {
        CHECK(name != "act/3");
        CHECK(name.find("layer/2/") == name.npos);  // it has no parameters
    }
}

TEST_CASE("roles are set, and a sample is a column") {
    samples const data{1};
    mini::Network net;
    build(net);
    collecting_sink sink;
    hook watch{sink, keep_all};
    minidnn_callback<mini::Callback> callback{watch, nullptr, 40};
    net.set_callback(callback);
    net.fit(0.1, data.x, data.classes, 2);
    CHECK((sink.kept["loss"] == std::vector{train(40), train(41)}));
    for (char const* name : {"input", "act/0", "act/1", "act/2", "pred"}) {
        CHECK(batch_axis_of(sink.infos[name].flags) == 1);
    }
    CHECK((sink.infos["label"].role == role::label && sink.infos["label"].shape == extents{5}));
    CHECK((sink.infos["pred"].role == role::prediction && sink.infos["input"].role == role::input));
    CHECK(sink.infos["act/0"].activation == activation_kind::relu);
    CHECK(sink.infos["act/1"].activation == activation_kind::other);
    CHECK(sink.infos["act/2"].activation == activation_kind::tanh);
    CHECK((sink.infos["layer/3/w"].role == role::weight && sink.infos["layer/3/b"].role == role::bias));
    auto const& gradient = sink.infos["grad/layer/3/w"];
    CHECK((gradient.role == role::gradient && gradient.partner == sink.infos["layer/3/w"].id));
    CHECK(gradient.shape == extents{1, 3});
}

TEST_CASE("the training is the same to the bit, and goes on under another net") {
    samples const data{4};
    auto const trained = [&](bool watched) {
        mini::Network first, second;
        build(first);
        second.add_layer(new mini::FullyConnected{2, 1, "Identity"});
        hook watch{keep_all, packs::supervised};
        minidnn_callback<mini::Callback> callback{watch};
        if (watched) { first.set_callback(callback), second.set_callback(callback); }
        first.fit(0.1, data.x, data.y, 10);
        second.fit(0.1, data.x, data.y, 10);
        CHECK(watch.health().good());
        CHECK(callback.steps() == (watched ? 80U : 0U));
        auto all = all_parameters(first);
        for (double const each : all_parameters(second)) { all.push_back(each); }
        return all;
    };
    CHECK(trained(true) == trained(false));
}

TEST_CASE("nothing is copied where nothing is due") {
    samples const data{1};
    mini::Network net;
    build(net);
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", every{3}, payload}}};
    minidnn_callback<mini::Callback> callback{watch};
    net.set_callback(callback);
    net.fit(0.1, data.x, data.y, 7);
    CHECK((sink.kept["layer/0/w"] == std::vector{train(0), train(3), train(6)}));
    CHECK(sink.count("close") == 7);
}

namespace {

struct stopped : std::runtime_error {
    using runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("an update cannot be skipped; what is asked for is known, and what `tell` throws ends `fit`") {
    samples data{3};
    data.x[1](0, 2) = std::nan("");
    mini::Network net;
    build(net);
    static std::vector<std::string> reported;
    reported.clear();
    {
        hook watch{keep_all, on(non_finite{}, skip_update)};
        minidnn_callback<mini::Callback> callback{
            watch, [](step_alarm const& found) { reported.emplace_back(found[0].tensor); }};
        net.set_callback(callback);
        net.fit(0.1, data.x, data.y, 1);
        CHECK(reported == std::vector<std::string>{"input", "layer/0/w"});
        CHECK(callback.asked() == decision::skip_update);
        CHECK(std::isnan(all_parameters(net)[0]));  // the answer came after the update
    }
    mini::Network fresh;
    build(fresh);
    hook watch{keep_all, on(non_finite{}, stop)};
    minidnn_callback<mini::Callback> callback{watch, [](step_alarm const& found) {
                                                  if (found.decision() == decision::stop) {
                                                      throw stopped{"non_finite"};
                                                  }
                                              }};
    fresh.set_callback(callback);
    CHECK_THROWS_AS(fresh.fit(0.1, data.x, data.y, 1), stopped);
    CHECK(callback.steps() == 2);  // it stops before the third batch
    CHECK(callback.asked() == decision::stop);
    CHECK(watch.health().good());
}
