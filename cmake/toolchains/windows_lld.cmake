# SPDX-License-Identifier: Apache-2.0
# The linker for windows.cmake. A program's templates make thousands of sections: GNU's linker and archiver take half a
# minute for each program, LLVM's a tenth of a second. g++ compiles; clang only tells the linker where its libraries
# are.
set(lld /usr/lib/llvm-19/bin/lld-link)
if(NOT EXISTS "${lld}")
    return() # keep GNU's linker
endif()
set(CMAKE_CXX_ARCHIVE_CREATE "${lld} /lib /out:<TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "")
set(CMAKE_CXX_LINK_EXECUTABLE "clang++-19 --target=x86_64-w64-mingw32 -fuse-ld=lld <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> -lpthread")
