# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/bench.cmake: on a fresh machine, builds every program of bench/ in build/bench, runs it and prints its
# figures.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

set(folder "${SPOTTER_ROOT}/build/bench")
set(optimised -O2)
set(compiled OFF)
if("$ENV{SPOTTER_BENCH_QUICK}") # only shows that the programs work
    set(optimised -O1)
    set(compiled ON)
endif()
spotter_configure("${folder}" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=${optimised} -DNDEBUG"
                  -DSPOTTER_TESTS=OFF -DSPOTTER_EXAMPLES=OFF -DSPOTTER_TOOLS=OFF -DSPOTTER_BENCH=ON -DCMAKE_UNITY_BUILD=OFF
                  -DSPOTTER_COMPILED=${compiled})
spotter_build("${folder}" --target all)
spotter_step("A benchmark" "${CMAKE_COMMAND}" --build "${folder}" --target bench)
