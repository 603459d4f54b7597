// SPDX-License-Identifier: Apache-2.0
// Armadillo's dense objects, and the callback. A small optimizer calls it in the order and form of ensmallen's
// callbacks.md.
#include <spotter/ext/armadillo.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>

#include <limits>
#include <vector>

using namespace spotter;

namespace {

arma::mat counted(arma::uword rows, arma::uword cols) {
    arma::mat made(rows, cols);
    for (arma::uword r = 0; r < rows; ++r) {
        for (arma::uword c = 0; c < cols; ++c) { made(r, c) = static_cast<double>(10 * r + c); }
    }
    return made;
}
arma::mat start_point() {
    arma::mat x(2, 1);
    x(0) = 1;
    x(1) = 2;
    return x;
}
bool has_shape(tensor_ref const& view, extents const& shape, order layout) {
    return view.refused == refusal::none && view.shape == shape && view.layout == layout;
}

// f(x) = |x|^2, which returns NaN from a chosen evaluation on.
struct bowl {
    int nan_at = -1;
    int evaluations = 0;

    double EvaluateWithGradient(arma::mat const& x, arma::mat& gradient) {
        gradient = 2 * x;
        if (evaluations++ == nan_at) { gradient(0) = std::numeric_limits<double>::quiet_NaN(); }
        return arma::accu(x % x);
    }
};

// Gradient descent with one callback. It detects the callback as ensmallen does: by the exact type of the member.
template <class Member, Member>
struct has_form {};

struct descent {
    std::size_t epochs = 4;
    std::size_t batches = 5;

    template <class Function, class Callback>
    void Optimize(Function& function, arma::mat& x, Callback&& callback) {
        using type = std::remove_reference_t<Callback>;
        using evaluate = bool (type::*)(descent&, Function&, arma::mat const&, double const);
        using gradients = bool (type::*)(descent&, Function&, arma::mat const&, arma::mat&);
        using gradients_const = bool (type::*)(descent&, Function&, arma::mat const&, arma::mat const&);
        using taken = bool (type::*)(descent&, Function&, arma::mat const&);
        using epoch = bool (type::*)(descent&, Function&, arma::mat const&, std::size_t const, double const);
        using border = void (type::*)(descent&, Function&, arma::mat&);
        (void)has_form<evaluate, &type::Evaluate>{};
        (void)has_form<gradients, &type::Gradient>{};
        (void)has_form<gradients_const, &type::Gradient>{};
        (void)has_form<taken, &type::StepTaken>{};
        (void)has_form<epoch, &type::BeginEpoch>{};
        (void)has_form<epoch, &type::EndEpoch>{};
        (void)has_form<border, &type::BeginOptimization>{};
        (void)has_form<border, &type::EndOptimization>{};

        arma::mat gradient;
        bool stop = false;
        callback.BeginOptimization(*this, function, x);
        for (std::size_t e = 0; e < epochs && !stop; ++e) {
            double sum = 0;
            stop = stop || callback.BeginEpoch(*this, function, x, e, sum);
            for (std::size_t b = 0; b < batches && !stop; ++b) {
                double const objective = function.EvaluateWithGradient(x, gradient);
                bool const asked = callback.Evaluate(*this, function, x, objective);
                stop = asked || callback.Gradient(*this, function, x, gradient);
                sum += objective;
                x -= 0.1 * gradient;
                stop = stop || callback.StepTaken(*this, function, x);
            }
            stop = stop || callback.EndEpoch(*this, function, x, e, sum);
        }
        callback.EndOptimization(*this, function, x);
    }
};

}  // namespace

TEST_CASE("matrices are column-major, vectors have one axis, a cube's slices come last") {
    arma::mat const w = counted(2, 3);
    CHECK(has_shape(as_tensor(w), {2, 3}, order::column_major));
    CHECK(tensor_from<std::vector<double>>::make(as_tensor(w)).value() == std::vector<double>{0, 1, 2, 10, 11, 12});
    CHECK(has_shape(as_tensor(arma::vec(4, arma::fill::ones)), {4}, order::row_major));
    CHECK(has_shape(as_tensor(arma::frowvec(3, arma::fill::ones)), {3}, order::row_major));
    CHECK(has_shape(as_tensor(arma::mat::fixed<2, 2>(arma::fill::zeros)), {2, 2}, order::column_major));
    CHECK(has_shape(as_tensor(arma::vec::fixed<3>(arma::fill::zeros)), {3}, order::row_major));
    CHECK(has_shape(as_tensor(arma::mat()), {0, 0}, order::column_major));
    CHECK(as_tensor(arma::umat(1, 1)).type == dtype::u64);
    CHECK(as_tensor(arma::cx_fmat(1, 1)).type == dtype::c64);

    arma::cube stack(2, 3, 4);
    for (arma::uword s = 0; s < 4; ++s) { stack.slice(s) = counted(2, 3) + 100.0 * static_cast<double>(s); }
    tensor_ref const view = as_tensor(stack);
    CHECK(has_shape(view, {2, 3, 4}, order::column_major));
    auto const rows = tensor_from<std::vector<double>>::make(view).value();
    CHECK(rows[4 * (3 * 1 + 2) + 3] == stack(1, 2, 3));
    STATIC_REQUIRE(!tensor<decltype(w + w)>);
    STATIC_REQUIRE(!tensor<arma::sp_mat>);
}

TEST_CASE("whole columns of a matrix are contiguous, other parts are refused") {
    arma::mat w = counted(4, 5);
    CHECK(tensor_from<std::vector<double>>::make(as_tensor(w.cols(1, 2))).value() ==
          std::vector<double>{1, 2, 11, 12, 21, 22, 31, 32});
    CHECK(has_shape(as_tensor(w.col(3)), {4}, order::row_major));
    CHECK(as_tensor(w.col(3)).values.f64[1] == 13);
    CHECK(as_tensor(w.rows(1, 2)).refused == refusal::not_contiguous);
    CHECK(as_tensor(w.row(1)).refused == refusal::not_contiguous);
    CHECK(as_tensor(w.submat(1, 1, 2, 2)).refused == refusal::not_contiguous);
}

TEST_CASE("a record is read back as Armadillo objects") {
    arma::mat const w = counted(3, 2);
    arma::fvec const b{1, 2, 3};
    arma::cube stack(2, 2, 3, arma::fill::zeros);
    stack(1, 0, 2) = 9;
    {
        constexpr plan keep{collection{"all", "*", always{}, payload}};
        hook watch{"armadillo", keep, options{.existing = existing::replace}};
        (void)watch.step(train(1), "w"_t = w, "b"_t = b, "stack"_t = stack);
    }
    trial const run = open_trial("armadillo").value();
    recorded_value const stored = run["w"].at(train(1));
    CHECK(arma::approx_equal(stored.to<arma::mat>().value(), w, "absdiff", 0));
    CHECK(stored.to<arma::fmat>().error().code == errc::wrong_type);
    CHECK(stored.to<arma::vec>().error().code == errc::wrong_type);
    CHECK(stored.to<arma::cube>().error().code == errc::wrong_type);
    CHECK(arma::approx_equal(run["b"].at(train(1)).to<arma::fvec>().value(), b, "absdiff", 0));
    CHECK(run["b"].at(train(1)).to<arma::frowvec>().value()(2) == 3);
    CHECK(run["stack"].at(train(1)).to<arma::cube>().value()(1, 0, 2) == 9);
    std::vector<double> const rows{1, 2, 3, 4};
    CHECK(tensor_from<arma::mat>::make(view_of(rows.data(), {2, 2})).value()(0, 1) == 2);
    CHECK(tensor_from<arma::vec>::make(view_of(rows.data(), {4, 1})).value()(3) == 4);
    CHECK(tensor_from<arma::vec>::make(view_of(rows.data(), {1, 4})).error().code == errc::wrong_type);
    CHECK(tensor_from<arma::rowvec>::make(view_of(rows.data(), {1, 4})).value()(3) == 4);
}

TEST_CASE("an optimizer is watched through a callback passed as an rvalue, and ends where it would have ended") {
    bowl function, unwatched;
    arma::mat x = start_point(), plain = x;
    {
        constexpr plan keep{collection{"all", "*", always{}, payload}};
        hook watch{"optimizer", keep, non_finite{}, options{.existing = existing::replace}};
        descent{}.Optimize(function, x, optimizer_callback{watch});
        CHECK(watch.health().steps == 20);
        CHECK(watch.health().good());
    }
    for (int i = 0; i < 20; ++i) {
        arma::mat gradient;
        unwatched.EvaluateWithGradient(plain, gradient);
        plain -= 0.1 * gradient;
    }
    CHECK(arma::approx_equal(x, plain, "absdiff", 0));

    trial const run = open_trial("optimizer").value();
    CHECK(run.steps().size() == 20);
    CHECK(run["loss"].at(train(0)).to<double>().value() == 5);
    auto const weights = run["coordinates/w"].at(train(3)).to<arma::mat>().value();
    auto const gradient = run["grad/coordinates/w"].at(train(3)).to<arma::mat>().value();
    CHECK(arma::approx_equal(gradient, arma::mat(2 * weights), "absdiff", 0));  // both of the same instant
    CHECK(run["grad/coordinates/w"].info().role == role::gradient);
    CHECK(run["grad/coordinates/w"].info().partner_role == role::weight);
    CHECK(run["epoch/objective"].loose().size() == 4);
}

TEST_CASE("a rule stops an optimizer, skips an update or only tells, as asked") {
    std::size_t reported = 0;
    auto const tell = [&](auto const& found) { reported += found.size(); };
    arma::mat const start = start_point();
    {
        bowl function{.nan_at = 7};
        arma::mat x = start;
        hook watch{plan{}, on(non_finite{}, decision::stop)};
        optimizer_callback callback{watch, tell};
        descent{}.Optimize(function, x, callback);
        CHECK(callback.stopped());
        CHECK(callback.steps() == 8);
        CHECK(function.evaluations == 8);
        CHECK(reported == 1);
    }
    {
        bowl function{.nan_at = 7};
        arma::mat x = start;
        hook watch{plan{}, non_finite{}};
        descent{}.Optimize(function, x, optimizer_callback{watch, on_skip::zero_gradient});
        CHECK(function.evaluations == 20);
        CHECK(x.is_finite());
    }
    {
        bowl function{.nan_at = 7};
        arma::mat x = start;
        hook watch{plan{}, non_finite{}};
        descent{}.Optimize(function, x, optimizer_callback{watch, on_skip::stop});
        CHECK(function.evaluations == 8);
    }
    {
        bowl function{.nan_at = 7};
        arma::mat x = start;
        reported = 0;
        hook watch{plan{}, non_finite{}};
        descent{}.Optimize(function, x, optimizer_callback{watch, tell});
        CHECK(function.evaluations == 20);
        CHECK(reported > 0);
    }
}

TEST_CASE("the callback takes evaluations without gradients, and coordinates that are no dense tensor") {
    hook watch{plan{}, non_finite{}};
    optimizer_callback callback{watch, on_skip::proceed, {.loss = "objective"}};
    descent optimizer;
    bowl function;
    arma::mat x(2, 1, arma::fill::ones);
    arma::sp_mat sparse(2, 2);
    callback.BeginOptimization(optimizer, function, x);
    CHECK_FALSE(callback.Evaluate(optimizer, function, x, 1.0));
    CHECK_FALSE(callback.Evaluate(optimizer, function, x, 2.0));
    CHECK_FALSE(callback.StepTaken(optimizer, function, x));
    CHECK_FALSE(callback.EvaluateWithGradient(optimizer, function, sparse, 3.0, sparse));
    callback.EndOptimization(optimizer, function, x);
    CHECK(callback.steps() == 3);
    CHECK(watch.health().steps == 3);
    CHECK(watch.health().refused == 0);
}
