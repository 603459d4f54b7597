// SPDX-License-Identifier: Apache-2.0
// The requests of a net in service, and the changes that may begin at some request.
#pragma once

#include "../common/pictures.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace drifting {

enum class change : std::uint8_t { none, fog, night, blur, unknown_class };
inline constexpr std::array<change, 4> changes{change::fog, change::night, change::blur, change::unknown_class};
[[nodiscard]] constexpr std::string_view name_of(change it) noexcept {
    constexpr std::string_view names[] = {"none", "fog", "night", "blur", "unknown class"};
    return names[static_cast<std::size_t>(it)];
}

// A grey veil of varying density: a tenth to three tenths of the picture.
[[nodiscard]] inline torch::Tensor in_fog(torch::Tensor const& bytes) {
    torch::Tensor const patches = torch::rand({bytes.size(0), 1, 4, 4}).mul_(0.2).add_(0.1);
    torch::Tensor const veil =
        torch::nn::functional::interpolate(patches, torch::nn::functional::InterpolateFuncOptions{}
                                                        .size(std::vector<std::int64_t>{32, 32})
                                                        .mode(torch::kBilinear)
                                                        .align_corners(false));
    return bytes * (1 - veil) + 200 * veil;
}
// Half the light, with a sensor's noise in the dark.
[[nodiscard]] inline torch::Tensor at_night(torch::Tensor const& bytes) {
    return bytes * 0.5 + 6 * torch::randn_like(bytes);
}
// A lens out of focus: a Gaussian of a standard deviation of one pixel.
[[nodiscard]] inline torch::Tensor blurred(torch::Tensor const& bytes) {
    torch::Tensor const line = torch::exp(-torch::arange(-2, 3).to(torch::kFloat).square() / 2);
    torch::Tensor const spot = line.outer(line) / line.sum().square();
    torch::Tensor const weight = spot.expand({3, 1, 5, 5}).contiguous();
    torch::Tensor const padded =
        torch::nn::functional::pad(bytes, torch::nn::functional::PadFuncOptions({2, 2, 2, 2}).mode(torch::kReplicate));
    return torch::nn::functional::conv2d(padded, weight, torch::nn::functional::Conv2dFuncOptions{}.groups(3));
}

// Requests in batches, drawn from a random half of `known`. From batch `from` on they are changed, or a quarter of them
// is drawn from `unknown`. Draws with torch's generator, which it seeds.
class stream {
public:
    stream(studies::pictures const& known, studies::pictures const& unknown, change what, std::uint64_t from,
           std::uint64_t seed)
        : unknown_{unknown}, what_{what}, from_{from} {
        torch::manual_seed(seed);
        known_ = known.at(torch::randperm(known.size()).slice(0, 0, known.size() / 2));
    }

    [[nodiscard]] studies::pictures next(std::int64_t batch) {
        studies::pictures drawn = known_.at(torch::randint(known_.size(), {batch}, torch::kLong));
        if (at_++ < from_) { return drawn; }
        torch::Tensor const seen = drawn.pixels.to(torch::kFloat);
        switch (what_) {
            case change::none:
                return drawn;
            case change::fog:
                return as_bytes(in_fog(seen), drawn);
            case change::night:
                return as_bytes(at_night(seen), drawn);
            case change::blur:
                return as_bytes(blurred(seen), drawn);
            case change::unknown_class:
                break;
        }
        torch::Tensor const which = torch::rand({batch}).lt(0.25);
        studies::pictures const others = unknown_.at(torch::randint(unknown_.size(), {batch}, torch::kLong));
        return {torch::where(which.reshape({-1, 1, 1, 1}), others.pixels, drawn.pixels),
                torch::where(which, others.labels, drawn.labels),
                {}};
    }

private:
    [[nodiscard]] static studies::pictures as_bytes(torch::Tensor const& seen, studies::pictures const& of) {
        return {seen.round().clamp(0, 255).to(torch::kByte), of.labels, {}};
    }

    studies::pictures known_{};
    studies::pictures const& unknown_;
    change what_;
    std::uint64_t from_;
    std::uint64_t at_ = 0;
};

}  // namespace drifting
