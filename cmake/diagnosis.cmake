# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/diagnosis.cmake: on a fresh machine, computes the tables of docs/diagnosis.md and
# docs/internals/diagnosis.md, in build/bench.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

set(folder "${SPOTTER_ROOT}/build/bench")
spotter_configure("${folder}" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"
                  -DSPOTTER_TESTS=OFF -DSPOTTER_EXAMPLES=OFF -DSPOTTER_TOOLS=OFF -DSPOTTER_BENCH=ON)
spotter_build("${folder}" --target bench_diagnosis)
spotter_step("The diagnosis bench" "${CMAKE_COMMAND}" --build "${folder}" --target diagnosis)
