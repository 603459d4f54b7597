# SPDX-License-Identifier: Apache-2.0
# 64-bit Windows by MinGW-w64, run by wine. The compiler's libraries are linked statically. SPOTTER_PACKAGES is the
# folder of packages that Debian lacks for it: cmake/platforms builds them.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH "${SPOTTER_PACKAGES}" /usr/x86_64-w64-mingw32)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPOTTER_PACKAGES)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
set(CMAKE_USER_MAKE_RULES_OVERRIDE_CXX "${CMAKE_CURRENT_LIST_DIR}/windows_lld.cmake")
