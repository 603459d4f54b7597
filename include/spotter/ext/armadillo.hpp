// SPDX-License-Identifier: Apache-2.0
// Ext (L6): Armadillo's dense objects as tensors, recorded values as Armadillo objects, and a callback for ensmallen's
// optimizers. ensmallen is not included: the callback only has the methods that it looks for.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_access.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/value.hpp>

#include <armadillo>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Object>
concept arma_object = requires {
    typename Object::elem_type;
    requires element<typename Object::elem_type> && arma::is_supported_elem_type<typename Object::elem_type>::value;
};
template <class Object>
concept arma_matrix = arma_object<Object> && std::derived_from<Object, arma::Mat<typename Object::elem_type>>;
template <class Object>
concept arma_cube = arma_object<Object> && std::derived_from<Object, arma::Cube<typename Object::elem_type>>;
template <class Object>
concept arma_part = arma_object<Object> && std::derived_from<Object, arma::subview<typename Object::elem_type>>;

// Makes a vector from a tensor with one axis, or with two axes where the one with index `unit` has a single element.
template <class Vector>
[[nodiscard]] result<Vector> make_arma_vector(tensor_ref const& from, std::size_t unit) {
    if (error const why = want_type<typename Vector::elem_type>(from)) { return why; }
    if (from.shape.rank > 2 || (from.shape.rank == 2 && from.shape.size[unit] != 1)) {
        return misfit(from, "a vector of this direction");
    }
    Vector made;
    made.set_size(static_cast<arma::uword>(from.count));
    copy_in_order(from, order::column_major, made.memptr());
    return made;
}

}  // namespace detail

// Mat, and Mat::fixed: {rows, columns}, column-major. Col and Row: one axis.
template <detail::arma_matrix Matrix>
struct tensor_access<Matrix> {
    [[nodiscard]] static tensor_ref view(Matrix const& it) noexcept {
        if constexpr (Matrix::is_col || Matrix::is_row) {
            return view_of(it.memptr(), {it.n_elem});
        } else {
            return view_of(it.memptr(), {it.n_rows, it.n_cols}, order::column_major);
        }
    }
};
// {rows, columns, slices}, column-major: rows vary fastest, slices slowest.
template <detail::arma_cube Cube>
struct tensor_access<Cube> {
    [[nodiscard]] static tensor_ref view(Cube const& it) noexcept {
        return view_of(it.memptr(), {it.n_rows, it.n_cols, it.n_slices}, order::column_major);
    }
};
// Parts of a Mat: whole columns are contiguous; other parts are refused.
template <detail::arma_part Part>
struct tensor_access<Part> {
    [[nodiscard]] static tensor_ref view(Part const& it) noexcept {
        auto const* const first = it.m.memptr() + it.aux_row1 + it.aux_col1 * it.m.n_rows;
        std::int64_t const strides[] = {1, static_cast<std::int64_t>(it.m.n_rows)};
        tensor_ref view = view_of(first, {it.n_rows, it.n_cols}, strides);
        if (view.refused == refusal::none) {
            view = Part::is_col || Part::is_row ? view_of(first, {it.n_elem})
                                                : view_of(first, view.shape, order::column_major);
        }
        return view;
    }
};

template <element Value>
struct tensor_from<arma::Mat<Value>> {
    [[nodiscard]] static result<arma::Mat<Value>> make(tensor_ref const& from) {
        if (error const why = detail::want_type<Value>(from)) { return why; }
        if (from.shape.rank != 2) { return detail::misfit(from, "a matrix"); }
        arma::Mat<Value> made;
        made.set_size(static_cast<arma::uword>(from.shape.size[0]), static_cast<arma::uword>(from.shape.size[1]));
        detail::copy_in_order(from, order::column_major, made.memptr());
        return made;
    }
};
template <element Value>
struct tensor_from<arma::Col<Value>> {
    [[nodiscard]] static result<arma::Col<Value>> make(tensor_ref const& from) {
        return detail::make_arma_vector<arma::Col<Value>>(from, 1);
    }
};
template <element Value>
struct tensor_from<arma::Row<Value>> {
    [[nodiscard]] static result<arma::Row<Value>> make(tensor_ref const& from) {
        return detail::make_arma_vector<arma::Row<Value>>(from, 0);
    }
};
template <element Value>
struct tensor_from<arma::Cube<Value>> {
    [[nodiscard]] static result<arma::Cube<Value>> make(tensor_ref const& from) {
        if (error const why = detail::want_type<Value>(from)) { return why; }
        if (from.shape.rank != 3) { return detail::misfit(from, "a cube"); }
        auto const& size = from.shape.size;
        arma::Cube<Value> made;
        made.set_size(static_cast<arma::uword>(size[0]), static_cast<arma::uword>(size[1]),
                      static_cast<arma::uword>(size[2]));
        detail::copy_in_order(from, order::column_major, made.memptr());
        return made;
    }
};

// What the callback does where a rule requests to skip an update, which ensmallen does not support.
enum class on_skip : std::uint8_t { proceed, zero_gradient, stop };

struct optimizer_names {                               // the names of the observed values
    std::string_view loss = "loss";                    // the objective
    std::string_view coordinates = "coordinates/w";    // the optimized variables
    std::string_view gradient = "grad/coordinates/w";  // of the objective with respect to the coordinates
    std::string_view epoch_loss = "epoch/objective";   // a scalar after each epoch
};

// Watches an optimizer: `sgd.Optimize(function, coordinates, optimizer_callback{watch, print_alarm})`. A step is one
// evaluation of the gradient, with the preceding objective and the coordinates at which it was taken; without gradients
// it is one evaluation or one step of the optimizer. `tell(alarm)` is called for each alarm. Once a rule has requested
// a stop, every method returns true.
template <class Hook, class Tell>
class optimizer_callback {
public:
    explicit optimizer_callback(Hook& hook, Tell tell, on_skip skip = on_skip::proceed,
                                optimizer_names const& names = {})
        : hook_{&hook}, tell_{std::move(tell)}, names_{names}, skip_{skip} {}
    explicit optimizer_callback(Hook& hook, on_skip skip = on_skip::proceed, optimizer_names const& names = {})
        requires std::same_as<Tell, std::nullptr_t>
        : hook_{&hook}, tell_{nullptr}, names_{names}, skip_{skip} {}

    // A rule has requested a stop since the optimization began.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return next_; }  // begun steps, over all optimizations

    // The signatures are those of ensmallen, which looks for exactly these.
    template <class Optimizer, class Function, class Coordinates>
    void BeginOptimization(Optimizer&, Function&, Coordinates&) {
        stopped_ = false;
    }
    // Opens a step with the objective.
    template <class Optimizer, class Function, class Coordinates>
    bool Evaluate(Optimizer&, Function&, Coordinates const& coordinates, double objective) {
        (void)close();
        open(coordinates);
        hook_->observe(names_.loss, objective, role::loss);
        return stopped_;
    }
    // Observes the gradient and closes the step.
    template <class Optimizer, class Function, class Coordinates, class Gradients>
    bool Gradient(Optimizer&, Function&, Coordinates const& coordinates, Gradients& gradient) {
        if (!open_) { open(coordinates); }
        if constexpr (tensor<std::remove_const_t<Gradients>>) {
            hook_->observe(names_.gradient, gradient, role::gradient);
        }
        decision const asked = close();
        if constexpr (!std::is_const_v<Gradients> && requires { gradient.zeros(); }) {
            if (asked == decision::skip_update && skip_ == on_skip::zero_gradient) { gradient.zeros(); }
        }
        return stopped_;
    }
    // Both of the above.
    template <class Optimizer, class Function, class Coordinates, class Gradients>
    bool EvaluateWithGradient(Optimizer& optimizer, Function& function, Coordinates const& coordinates,
                              double objective, Gradients& gradient) {
        (void)Evaluate(optimizer, function, coordinates, objective);
        return Gradient(optimizer, function, coordinates, gradient);
    }
    // Closes a step without a gradient.
    template <class Optimizer, class Function, class Coordinates>
    bool StepTaken(Optimizer&, Function&, Coordinates const&) {
        (void)close();
        return stopped_;
    }
    // Only returns whether to stop.
    template <class Optimizer, class Function, class Coordinates>
    bool BeginEpoch(Optimizer&, Function&, Coordinates const&, std::size_t, double) {
        return stopped_;
    }
    // Keeps the epoch's objective as a scalar.
    template <class Optimizer, class Function, class Coordinates>
    bool EndEpoch(Optimizer&, Function&, Coordinates const&, std::size_t, double objective) {
        (void)close();
        hook_->scalar(names_.epoch_loss, objective);
        return stopped_;
    }
    // Closes an open step.
    template <class Optimizer, class Function, class Coordinates>
    void EndOptimization(Optimizer&, Function&, Coordinates&) {
        (void)close();
    }

private:
    template <class Coordinates>
    void open(Coordinates const& coordinates) {
        hook_->begin(train(next_++));
        open_ = true;
        if constexpr (tensor<Coordinates>) { hook_->observe(names_.coordinates, coordinates, role::weight); }
    }
    decision close() {
        if (!open_) { return decision::proceed; }
        open_ = false;
        step_alarm const found = hook_->end();
        decision const asked = found.decision();
        if constexpr (!std::same_as<Tell, std::nullptr_t>) {
            if (found) { tell_(found); }
        }
        if (asked == decision::stop || (asked == decision::skip_update && skip_ == on_skip::stop)) { stopped_ = true; }
        return asked;
    }

    Hook* hook_;
    Tell tell_;
    optimizer_names names_;
    std::uint64_t next_ = 0;
    on_skip skip_;
    bool open_ = false;
    bool stopped_ = false;
};
template <class Hook>
optimizer_callback(Hook&) -> optimizer_callback<Hook, std::nullptr_t>;
template <class Hook>
optimizer_callback(Hook&, on_skip) -> optimizer_callback<Hook, std::nullptr_t>;
template <class Hook>
optimizer_callback(Hook&, on_skip, optimizer_names) -> optimizer_callback<Hook, std::nullptr_t>;

}  // namespace spotter::inline SPOTTER_ABI
