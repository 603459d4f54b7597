// SPDX-License-Identifier: Apache-2.0
// A small framework with MiniDNN's interface, written anew: the same classes, methods and order of calls in `fit`.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mini {

using Scalar = double;

// Column-major, like Eigen's.
class matrix {
public:
    enum { IsRowMajor = 0 };
    matrix() = default;
    matrix(int rows, int cols) : rows_{rows}, cols_{cols}, values_(static_cast<std::size_t>(rows * cols)) {}
    int rows() const { return rows_; }
    int cols() const { return cols_; }
    Scalar const* data() const { return values_.data(); }
    Scalar& operator()(int row, int col) { return values_[static_cast<std::size_t>(col * rows_ + row)]; }
    Scalar operator()(int row, int col) const { return values_[static_cast<std::size_t>(col * rows_ + row)]; }

private:
    int rows_ = 0, cols_ = 0;
    std::vector<Scalar> values_{};
};

class Network;

class Callback {
protected:
    typedef matrix Matrix;
    typedef std::vector<int> IntegerVector;

public:
    int m_nbatch = 0, m_batch_id = 0, m_nepoch = 0, m_epoch_id = 0;
    virtual ~Callback() {}
    virtual void pre_training_batch(Network const*, Matrix const&, Matrix const&) {}
    virtual void pre_training_batch(Network const*, Matrix const&, IntegerVector const&) {}
    virtual void post_training_batch(Network const*, Matrix const&, Matrix const&) {}
    virtual void post_training_batch(Network const*, Matrix const&, IntegerVector const&) {}
};

class Layer {
public:
    Layer(int in, int out, std::string activation) : in_{in}, out_{out}, activation_{std::move(activation)} {}
    virtual ~Layer() {}
    int in_size() const { return in_; }
    int out_size() const { return out_; }
    std::string activation_type() const { return activation_; }
    matrix const& output() const { return output_; }
    matrix const& backprop_data() const { return back_; }
    std::vector<Scalar> get_parameters() const { return parameters; }
    std::vector<Scalar> get_derivatives() const { return derivatives; }
    virtual std::string layer_type() const = 0;
    virtual void forward(matrix const& from) = 0;
    virtual void backprop(matrix const& from, matrix const& next) = 0;

    std::vector<Scalar> parameters{}, derivatives{};

protected:
    Scalar activated(Scalar z) const {
        return activation_ == "ReLU" ? (z > 0 ? z : 0) : activation_ == "Tanh" ? std::tanh(z) : z;
    }
    Scalar slope(Scalar a) const {
        return activation_ == "ReLU" ? (a > 0 ? 1 : 0) : activation_ == "Tanh" ? 1 - a * a : 1;
    }
    int in_, out_;
    std::string activation_;
    matrix output_{}, back_{};
};

// Parameters: the weights W(in, out), column by column, then the biases.
class FullyConnected : public Layer {
public:
    FullyConnected(int in, int out, std::string activation) : Layer{in, out, std::move(activation)} {
        parameters.resize(static_cast<std::size_t>((in + 1) * out));
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            parameters[i] = std::sin(7.0 * static_cast<double>(i + 1)) / 2;
        }
        derivatives.resize(parameters.size());
    }
    std::string layer_type() const override { return "FullyConnected"; }
    void forward(matrix const& from) override {
        output_ = matrix{out_, from.cols()};
        for (int n = 0; n < from.cols(); ++n) {
            for (int o = 0; o < out_; ++o) {
                Scalar z = parameters[static_cast<std::size_t>(in_ * out_ + o)];
                for (int i = 0; i < in_; ++i) { z += parameters[at(i, o)] * from(i, n); }
                output_(o, n) = activated(z);
            }
        }
    }
    void backprop(matrix const& from, matrix const& next) override {
        derivatives.assign(derivatives.size(), 0);
        back_ = matrix{in_, from.cols()};
        for (int n = 0; n < from.cols(); ++n) {
            for (int o = 0; o < out_; ++o) {
                Scalar const dz = next(o, n) * slope(output_(o, n));
                for (int i = 0; i < in_; ++i) {
                    derivatives[at(i, o)] += dz * from(i, n) / from.cols();
                    back_(i, n) += parameters[at(i, o)] * dz;
                }
                derivatives[static_cast<std::size_t>(in_ * out_ + o)] += dz / from.cols();
            }
        }
    }

private:
    std::size_t at(int i, int o) const { return static_cast<std::size_t>(o * in_ + i); }
};

// Multiplies all inputs by one parameter. Like a convolution, it has no weights and biases of MiniDNN's form.
class Scaling : public Layer {
public:
    explicit Scaling(int size) : Layer{size, size, "Identity"} { parameters = {1.5}, derivatives = {0}; }
    std::string layer_type() const override { return "Scaling"; }
    void forward(matrix const& from) override {
        output_ = from;
        for (int n = 0; n < from.cols(); ++n) {
            for (int i = 0; i < in_; ++i) { output_(i, n) *= parameters[0]; }
        }
    }
    void backprop(matrix const& from, matrix const& next) override {
        derivatives[0] = 0;
        back_ = next;
        for (int n = 0; n < from.cols(); ++n) {
            for (int i = 0; i < in_; ++i) {
                derivatives[0] += next(i, n) * from(i, n) / from.cols();
                back_(i, n) *= parameters[0];
            }
        }
    }
};

// A layer without parameters, like a pooling.
class Passing : public Layer {
public:
    explicit Passing(int size) : Layer{size, size, "Tanh"} {}
    std::string layer_type() const override { return "Passing"; }
    void forward(matrix const& from) override {
        output_ = from;
        for (int n = 0; n < from.cols(); ++n) {
            for (int i = 0; i < in_; ++i) { output_(i, n) = activated(from(i, n)); }
        }
    }
    void backprop(matrix const& from, matrix const& next) override {
        back_ = next;
        for (int n = 0; n < from.cols(); ++n) {
            for (int i = 0; i < in_; ++i) { back_(i, n) *= slope(output_(i, n)); }
        }
    }
};

// Half the mean squared error; for a class, its number is the target.
class Output {
public:
    void evaluate(matrix const& said, matrix const& target) {
        evaluate(said, [&](int o, int n) { return target(o, n); });
    }
    void evaluate(matrix const& said, std::vector<int> const& target) {
        evaluate(said, [&](int, int n) { return target[static_cast<std::size_t>(n)]; });
    }
    matrix const& backprop_data() const { return back_; }
    Scalar loss() const { return loss_; }

private:
    template <class Target>
    void evaluate(matrix const& said, Target target) {
        back_ = said;
        loss_ = 0;
        for (int n = 0; n < said.cols(); ++n) {
            for (int o = 0; o < said.rows(); ++o) {
                back_(o, n) -= target(o, n);
                loss_ += back_(o, n) * back_(o, n) / 2 / said.cols();
            }
        }
    }
    matrix back_{};
    Scalar loss_ = 0;
};

class Network {
public:
    void add_layer(Layer* layer) { layers_.emplace_back(layer); }
    std::vector<Layer const*> get_layers() const {
        std::vector<Layer const*> all;
        for (auto const& each : layers_) { all.push_back(each.get()); }
        return all;
    }
    Output const* get_output() const { return &output_; }
    void set_callback(Callback& callback) { callback_ = &callback; }
    Layer& layer(std::size_t place) { return *layers_[place]; }

    template <class Targets>
    void fit(Scalar rate, std::vector<matrix> const& x, std::vector<Targets> const& y, int epochs) {
        callback_->m_nbatch = static_cast<int>(x.size());
        callback_->m_nepoch = epochs;
        for (callback_->m_epoch_id = 0; callback_->m_epoch_id < epochs; ++callback_->m_epoch_id) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                callback_->m_batch_id = static_cast<int>(i);
                callback_->pre_training_batch(this, x[i], y[i]);
                for (std::size_t k = 0; k < layers_.size(); ++k) { layers_[k]->forward(before(k, x[i])); }
                output_.evaluate(layers_.back()->output(), y[i]);
                for (std::size_t k = layers_.size(); k-- > 0;) {
                    layers_[k]->backprop(before(k, x[i]), k + 1 == layers_.size() ? output_.backprop_data()
                                                                                  : layers_[k + 1]->backprop_data());
                }
                for (auto const& each : layers_) {
                    for (std::size_t p = 0; p < each->parameters.size(); ++p) {
                        each->parameters[p] -= rate * each->derivatives[p];
                    }
                }
                callback_->post_training_batch(this, x[i], y[i]);
            }
        }
    }

private:
    matrix const& before(std::size_t layer, matrix const& x) const {
        return layer == 0 ? x : layers_[layer - 1]->output();
    }
    std::vector<std::unique_ptr<Layer>> layers_{};
    Output output_{};
    Callback nobody_{};
    Callback* callback_ = &nobody_;
};

}  // namespace mini
