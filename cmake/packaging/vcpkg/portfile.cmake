# SPDX-License-Identifier: Apache-2.0
# An overlay port that packages the checkout it lies in:
#   vcpkg install spotter[report,xtensor] --overlay-ports=<checkout>/cmake/packaging/vcpkg
# In a registry the first line becomes vcpkg_from_github(...).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # header-only

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS -DSPOTTER_TESTS=OFF -DSPOTTER_EXAMPLES=OFF -DSPOTTER_TOOLS=OFF -DSPOTTER_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/spotter)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
