# SPDX-License-Identifier: Apache-2.0
# cmake -DPLATFORM=windows -P cmake/platform.cmake: builds for another platform in build/<platform>, and runs what this
# machine can run of it. Installs nothing: it names missing packages (-DPACKAGES=ON: only that). -DWIDE=ON adds the
# tests that take minutes to compile. docs/platforms.md has the table.
cmake_minimum_required(VERSION 3.20)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)

# For each platform: the packages of Debian 12, a file of each package that proves its presence, the folders of tests/
# and the examples, and what a wide run adds.
set(packages_libcxx clang-19 libc++-19-dev libc++abi-19-dev libunwind-19-dev)
set(files_libcxx /usr/bin/clang++-19 /usr/lib/llvm-19/include/c++/v1/charconv /usr/lib/llvm-19/lib/libc++abi.a /usr/lib/llvm-19/lib/libunwind.a)
set(folders_libcxx core stat hook format trial)
set(examples_libcxx 01_two_lines)
set(wide_folders_libcxx ring plan rule record replay)
set(wide_examples_libcxx 05_replay)
set(options_libcxx -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_FLAGS=-stdlib=libc++ -DSPOTTER_TEST_CHECKS=headers)

set(packages_arm64 g++-aarch64-linux-gnu qemu-user-static libzstd-dev:arm64)
set(files_arm64 /usr/bin/aarch64-linux-gnu-g++ /usr/bin/qemu-aarch64-static /usr/lib/aarch64-linux-gnu/libzstd.so)
set(before_arm64 "dpkg --add-architecture arm64 && apt-get update && ")
set(folders_arm64 core stat ring format golden)
set(examples_arm64 01_two_lines 02_collections) # 05 needs fmt, which Debian offers only for this machine's architecture

set(packages_x86_32 g++-i686-linux-gnu libzstd-dev:i386)
set(files_x86_32 /usr/bin/i686-linux-gnu-g++ /usr/lib/i386-linux-gnu/libzstd.so)
set(before_x86_32 "dpkg --add-architecture i386 && apt-get update && ")
set(folders_x86_32 core stat ring file format golden)
set(examples_x86_32 01_two_lines 02_collections)

set(packages_windows g++-mingw-w64-x86-64-posix clang-19 lld-19 wine wine64)
set(files_windows /usr/bin/x86_64-w64-mingw32-g++-posix /usr/bin/clang++-19 /usr/bin/lld-link-19 /usr/bin/wine /usr/lib/wine/wine64)
set(folders_windows core stat ring hook preflight file record response supervise)
set(examples_windows 01_two_lines 02_collections)
set(wide_folders_windows plan rule format trial replay)
set(wide_examples_windows 05_replay)

# Compiled, not run: there is no C++ library for musl and no Apple SDK to link with.
foreach(each IN ITEMS musl macos)
    set(packages_${each} clang-19 libc++-19-dev musl-dev libzstd-dev)
    set(files_${each} /usr/bin/clang++-19 /usr/lib/llvm-19/include/c++/v1/charconv /usr/include/x86_64-linux-musl/stdlib.h /usr/include/zstd.h)
endforeach()
set(flags_musl --target=x86_64-linux-musl -D_LIBCPP_HAS_MUSL_LIBC=1)
set(flags_macos --target=arm64-apple-macos14 -D_GNU_SOURCE -isystem "${root}/cmake/platforms/macos")

set(rows libcxx arm64 x86_32 windows musl macos)
if(NOT PLATFORM IN_LIST rows)
    list(JOIN rows ", " names)
    message(FATAL_ERROR "cmake -DPLATFORM=<name> -P cmake/platform.cmake; the names are ${names}")
endif()
# Components that no test of this run links are not compiled.
set(narrow OFF)
if(WIDE)
    list(APPEND folders_${PLATFORM} ${wide_folders_${PLATFORM}})
    list(APPEND examples_${PLATFORM} ${wide_examples_${PLATFORM}})
elseif(NOT PLATFORM STREQUAL "libcxx") # libcxx compiles all headers
    set(narrow ON)
endif()
set(missing "")
foreach(package file IN ZIP_LISTS packages_${PLATFORM} files_${PLATFORM})
    if(NOT EXISTS "${file}")
        list(APPEND missing ${package})
    endif()
endforeach()
if(missing)
    list(JOIN packages_${PLATFORM} " " words)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "${missing}: not here. On Debian 12, as root:\n  ${before_${PLATFORM}}apt-get install -y --no-install-recommends "
                        "ninja-build catch2 nlohmann-json3-dev ${words}\n")
endif()

if(PLATFORM STREQUAL "windows")
    # zstd from its sources, which stay where they are.
    if(NOT ZSTD_SOURCE)
        set(ZSTD_SOURCE "${root}/build/zstd-source")
    endif()
    if(NOT EXISTS "${ZSTD_SOURCE}/lib/zstd.h")
        message(FATAL_ERROR "windows: zstd's sources are not in ${ZSTD_SOURCE} (-DZSTD_SOURCE=<folder> says where). With `deb-src` among apt's sources:\n"
                            "  mkdir -p build && (cd build && apt-get source --download-only libzstd && mkdir -p zstd-source &&\n"
                            "      tar xf libzstd_*.orig.tar.xz -C zstd-source --strip-components=1)\n")
    endif()
endif()
if(PACKAGES)
    return()
endif()

function(step what)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${root}" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${PLATFORM}: ${what} failed (${result}); the reason is in the lines above.")
    endif()
endfunction()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
if(DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
    set(cores "$ENV{CMAKE_BUILD_PARALLEL_LEVEL}")
endif()
set(build "${root}/build/${PLATFORM}")

if(PLATFORM MATCHES "^(musl|macos)$")
    # The public headers with their bodies, compiled with only the headers of libc++ and musl (which also stand for
    # Apple's).
    file(MAKE_DIRECTORY "${build}/include")
    foreach(name IN ITEMS zstd.h zstd_errors.h)
        file(CREATE_LINK "/usr/include/${name}" "${build}/include/${name}" SYMBOLIC)
    endforeach()
    set(source "${root}/tests/compile/macos.cpp") # includes the same headers, and undefines what macOS lacks
    if(PLATFORM STREQUAL "musl")
        file(GLOB doors RELATIVE "${root}/include" "${root}/include/spotter/*.hpp")
        list(FILTER doors EXCLUDE REGEX "/(implementation|diff|report)\\.hpp$")
        list(TRANSFORM doors REPLACE "(.+)" "#include <\\1>" OUTPUT_VARIABLE lines)
        list(JOIN lines "\n" lines)
        set(source "${build}/doors.cpp")
        file(WRITE "${source}" "${lines}\n")
    endif()
    step("compiling the headers" clang++-19 ${flags_${PLATFORM}} -nostdinc -nostdinc++
         -isystem /usr/lib/llvm-19/include/c++/v1 -isystem /usr/lib/llvm-19/lib/clang/19/include
         -isystem /usr/include/x86_64-linux-musl -isystem "${build}/include" -std=c++20 -Wall -Wextra -Werror
         -fsyntax-only "-I${root}/include" "${source}")
    file(WRITE "${build}/junit.xml"
         "<testsuite name=\"${PLATFORM}\" tests=\"1\" failures=\"0\" skipped=\"0\" disabled=\"0\">\n<testcase name=\"headers\" status=\"run\"/>\n</testsuite>\n")
    message("${PLATFORM}: the headers compile (nothing is run)")
    return()
endif()

if(PLATFORM STREQUAL "windows")
    set(packaged "${root}/build/windows-packages")
    step("configuring zstd" "${CMAKE_COMMAND}" -S "${root}/cmake/platforms" -B "${packaged}" -G Ninja "-DZSTD_SOURCE=${ZSTD_SOURCE}"
         "-DCMAKE_TOOLCHAIN_FILE=${root}/cmake/toolchains/windows.cmake")
    step("building zstd" "${CMAKE_COMMAND}" --build "${packaged}" --parallel ${cores})
    set(options_windows "-DSPOTTER_PACKAGES=${packaged}")
    set(ENV{WINEPREFIX} "${root}/build/wine")
    set(ENV{WINEDEBUG} -all)
endif()
if(NOT DEFINED options_${PLATFORM} OR PLATFORM STREQUAL "windows")
    list(APPEND options_${PLATFORM} "-DCMAKE_TOOLCHAIN_FILE=${root}/cmake/toolchains/${PLATFORM}.cmake" -DSPOTTER_TEST_CHECKS=none)
endif()

list(JOIN folders_${PLATFORM} "\\;" folders) # as one argument
step("configuring" "${CMAKE_COMMAND}" -S "${root}" -B "${build}" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
     -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DSPOTTER_TEST_QUICK=-O0 -DSPOTTER_WERROR=ON -DSPOTTER_TOOLS=OFF
     "-DSPOTTER_TEST_FOLDERS=${folders}"
     -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=${narrow} -DCMAKE_DISABLE_FIND_PACKAGE_fmt=${narrow} ${options_${PLATFORM}})
set(targets "")
foreach(folder IN LISTS folders_${PLATFORM})
    list(APPEND targets spotter_test_${folder})
endforeach()
foreach(example IN LISTS examples_${PLATFORM})
    list(APPEND targets example_${example})
endforeach()
if(PLATFORM STREQUAL "libcxx")
    list(APPEND targets spotter_headers)
endif()
step("building" "${CMAKE_COMMAND}" --build "${build}" --parallel ${cores} --target ${targets})

list(JOIN folders_${PLATFORM} "|" folders)
list(JOIN examples_${PLATFORM} "|" examples)
set(report "")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
    set(report --output-junit "${build}/junit.xml")
endif()
get_filename_component(bin "${CMAKE_COMMAND}" DIRECTORY)
step("a test" "${bin}/ctest" --test-dir "${build}" -R "^(${folders})/|^example\\.(${examples})$|^headers$" --output-on-failure --no-tests=error
     -j ${cores} ${report})
