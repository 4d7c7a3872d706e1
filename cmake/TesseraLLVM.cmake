# Finds LLVM and MLIR 22.1 through llvm-config-22, so that no path of a machine is written down.
find_program(TESSERA_LLVM_CONFIG NAMES llvm-config-22 llvm-config)
if(NOT TESSERA_LLVM_CONFIG)
  message(FATAL_ERROR "llvm-config-22 was not found. Install llvm-22-dev, libmlir-22-dev and mlir-22-tools, or run ./dev build.")
endif()
execute_process(COMMAND ${TESSERA_LLVM_CONFIG} --cmakedir OUTPUT_VARIABLE _llvm_cmake OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${TESSERA_LLVM_CONFIG} --bindir OUTPUT_VARIABLE TESSERA_LLVM_BIN OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(_cmake_root ${_llvm_cmake} DIRECTORY)
find_package(MLIR 22.1 REQUIRED CONFIG PATHS ${_cmake_root}/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# TesseraStaticLLVM: the archives of LLVM and MLIR, for what users start. Loading LLVM's shared libraries costs a process
# some 45 ms, mostly for targets and options that it never uses; of the archives the linker takes what is called.
# The tests of single layers use the shared libraries, MLIR and LLVM, which link faster.
add_library(TesseraStaticLLVM INTERFACE)
if(TESSERA_SANITIZER)
  # Sanitizers are told what to leave alone by the names of LLVM's shared libraries.
  target_link_libraries(TesseraStaticLLVM INTERFACE MLIR LLVM)
  return()
endif()
execute_process(COMMAND ${TESSERA_LLVM_CONFIG} --link-static --system-libs
  OUTPUT_VARIABLE _llvm_system OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(_llvm_system)
foreach(_library IN LISTS MLIR_EXPORTED_TARGETS LLVM_AVAILABLE_LIBS)
  # Some of the names are of libraries that Debian packs apart, or not at all.
  if(TARGET ${_library})
    get_target_property(_file ${_library} LOCATION)
    if(_file MATCHES "\\.a$" AND EXISTS ${_file})
      target_link_libraries(TesseraStaticLLVM INTERFACE ${_file})
    endif()
  endif()
endforeach()
# Nothing of LLVM is visible from outside, so a program may load another LLVM beside ours.
target_link_options(TesseraStaticLLVM INTERFACE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed)
target_link_libraries(TesseraStaticLLVM INTERFACE ${_llvm_system} ffi)
