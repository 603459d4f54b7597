# SPDX-License-Identifier: Apache-2.0
# 64-bit ARM on Linux, run by qemu. Debian's libzstd-dev:arm64 brings the C library; the C++ library is linked
# statically.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
