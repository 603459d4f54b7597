// SPDX-License-Identifier: Apache-2.0
// Nets that were written once the examination had been mended by what the first left-out ones showed: nothing was
// changed for them.
#include "entry.hpp"
#include "nets/deep_set.hpp"
#include "nets/dilated.hpp"
#include "nets/experts.hpp"
#include "nets/gaussian.hpp"
#include "nets/lstm.hpp"
#include "nets/siamese.hpp"
#include "nets/skip_gram.hpp"

namespace preflight_bench {

std::vector<net_entry> nets_last() {
    constexpr half of = half::last;
    return {entry_of<lstm, float>(of),     entry_of<siamese, float>(of),  entry_of<experts, float>(of),
            entry_of<dilated, float>(of),  entry_of<deep_set, float>(of), entry_of<gaussian, double>(of),
            entry_of<skip_gram, float>(of)};
}

}  // namespace preflight_bench
