# The two helpers that folders use: a library of the compiler (sees LLVM and MLIR), and ODS generation.

# tessera_mlir_library(NAME SOURCES... LINK targets...): an object library compiled against LLVM and MLIR.
function(tessera_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE -frtti -fexceptions "SHELL:-Xclang -fno-pch-timestamp")
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(NOT TARGET tessera-pch)
    add_library(tessera-pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
    target_include_directories(tessera-pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_include_directories(tessera-pch PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    # Without timestamps in the precompiled header the same sources give the same header, and ccache can hit.
    target_compile_options(tessera-pch PRIVATE -frtti -fexceptions "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(tessera-pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  endif()
  target_precompile_headers(${name} REUSE_FROM tessera-pch)
endfunction()

# tessera_tablegen(FILE.td OUTPUT.inc flags...): runs mlir-tblgen into the build folder, beside the source's place.
macro(tessera_tablegen td out)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${out} ${ARGN} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
endmacro()
