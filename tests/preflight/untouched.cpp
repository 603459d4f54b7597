// SPDX-License-Identifier: Apache-2.0
// A training has the same bits with and without an examination before it: random numbers, a place in a file and running
// statistics are in the net.
#include <spotter/preflight.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>
#include <tests/temporary_folder.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

// A file of numbers that is read on from where it was: a copy has its own place.
class numbers_file {
public:
    explicit numbers_file(std::string path) : path_(std::move(path)) {}
    float next() {
        std::ifstream file{path_, std::ios::binary};  // so that a place is a count of bytes on Windows, too
        file.seekg(at_);
        float value = 0;
        if (!(file >> value)) {
            at_ = 0;
            return next();
        }
        at_ = file.tellg();
        return value;
    }

private:
    std::string path_;
    std::streamoff at_ = 0;
};

// A layer behind a normalisation with running means, dropout, momentum, and a new batch of a file in each pass.
struct living_net {
    static constexpr std::size_t in = 3, samples = 6;
    numbers_file data;
    prng random{};
    std::vector<float> w = {0.4F, -0.6F, 0.2F}, b = {0.1F}, gw = std::vector<float>(3), gb = std::vector<float>(1),
                       mean = std::vector<float>(3), vw = gw, vb = gb, x{};

    explicit living_net(std::string const& path) : data(path) {}
    float forward_backward() {
        gw.assign(3, 0.0F), gb.assign(1, 0.0F), x.clear();
        for (std::size_t i = 0; i < in * samples; ++i) { x.push_back(data.next()); }
        float loss = 0;
        for (std::size_t j = 0; j < in; ++j) {
            for (std::size_t i = 0; i < samples; ++i) { mean[j] += 0.01F * (x[i * in + j] - mean[j]); }
        }
        for (std::size_t i = 0; i < samples; ++i) {
            float z = b[0];
            std::vector<float> kept(in);
            for (std::size_t j = 0; j < in; ++j) {
                z += w[j] * (kept[j] = random.next() > 0.6 ? 0.0F : x[i * in + j] - mean[j]);
            }
            float const out = std::tanh(z), gap = out - x[i * in];
            loss += gap * gap / samples;
            float const d = 2 * gap * (1 - out * out) / samples;
            for (std::size_t j = 0; j < in; ++j) { gw[j] += d * kept[j]; }
            gb[0] += d;
        }
        return loss;
    }
    void update() {
        for (std::size_t j = 0; j < in; ++j) { w[j] -= 0.05F * (vw[j] = 0.9F * vw[j] + gw[j]); }
        b[0] -= 0.05F * (vb[0] = 0.9F * vb[0] + gb[0]);
    }
};
template <class Visit>
void visit_tensors(living_net const& it, Visit visit) {
    visit("out/w", it.w), visit("out/b", it.b), visit("running/mean", it.mean), visit("input", it.x);
    visit("grad/out/w", it.gw), visit("grad/out/b", it.gb);
}

struct trained {
    std::vector<float> w, b, mean;
    bool operator==(trained const&) const = default;
};
trained train(std::string const& path, bool examines) {
    living_net net{path};
    for (int i = 0; i < 40; ++i) {
        if (examines && (i == 0 || i == 20)) {  // before it, and once again in the middle
            preflight_result const found = preflight(net, pass, step);
            CHECK(found.first() == preflight_cause::none);
            CHECK(found.count(gradient_proof::right) == 2);
        }
        (void)net.forward_backward();
        net.update();
    }
    return {net.w, net.b, net.mean};
}

}  // namespace

TEST_CASE("a training has the same bits with and without an examination, with random numbers, a file and statistics in "
          "the net") {
    spotter_test::temporary_folder const folder;
    std::string const path = folder / "numbers.txt";
    {
        std::ofstream file{path, std::ios::binary};
        prng random;
        for (int i = 0; i < 500; ++i) { file << random.next() << '\n'; }
    }
    CHECK(train(path, false) == train(path, true));
}
