# Build options and the flags every target of this project is compiled with.
option(TESSERA_BUILD_TESTS "Build the test suite" ON)
option(TESSERA_BUILD_BENCH "Build the benchmarks" ON)
set(TESSERA_SANITIZER "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Assertions stay on in every build: they guard our own invariants and cost little beside LLVM.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-math-errno -ffp-contract=off)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
add_link_options(-fuse-ld=lld)

if(TESSERA_SANITIZER)
  add_compile_options(-fsanitize=${TESSERA_SANITIZER} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TESSERA_SANITIZER})
  # What is looked for between threads does not depend on it, and it halves the time to compile.
  if(TESSERA_SANITIZER MATCHES "thread")
    set(CMAKE_CXX_FLAGS_RELEASE "-O1")
  endif()
  # Compiled kernels carry no type signature in front of them, which this check would read.
  if(TESSERA_SANITIZER MATCHES "undefined")
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
