// SPDX-License-Identifier: Apache-2.0
// expect: not a contiguous tensor
#include <spotter/core/tensor_access.hpp>

#include <list>
#include <vector>

#ifdef SPOTTER_CONTROL
std::vector<float> const values{1, 2, 3};
#else
std::list<float> const values{1, 2, 3};
#endif

auto const view = spotter::as_tensor(values);
