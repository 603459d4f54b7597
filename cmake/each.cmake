# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/each.cmake: compiles each header, and each file of the command line and of the tests, on its own. Other
# builds compile several as one, or behind a precompiled header (examples and benchmarks are single files anyway). In
# build/each; nothing is linked.
set(SPOTTER_SETUP_MORE catch2 python3 nlohmann-json3-dev libcli11-dev zlib1g-dev)
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

set(folder "${SPOTTER_ROOT}/build/each")
spotter_configure("${folder}" -DCMAKE_UNITY_BUILD=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DSPOTTER_WERROR=ON)
find_program(python python3)
spotter_step("A file by itself" "${python}" "${SPOTTER_ROOT}/tools/each_file.py" "${folder}/compile_commands.json" "${SPOTTER_ROOT}"
             "${folder}/precompiled" tools tests)
