# How tests are registered: GoogleTest executables and lit suites.

# tessera_unit_test(NAME SOURCES... [LINK targets...] [SLOW]): a GoogleTest executable and its CTest entry of the same name.
# One entry an executable, since loading LLVM costs each process some 30 ms. SLOW tests run with `./dev test --all` only.
function(tessera_unit_test name)
  cmake_parse_arguments(ARG "SLOW" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/Unit)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  if(ARG_SLOW)
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT 3600)
  endif()
endfunction()

# tessera_lit_suite(FOLDER): the .mlir tests in test/FOLDER as one CTest entry, lit-FOLDER.
function(tessera_lit_suite folder)
  string(TOLOWER lit-${folder} _name)
  add_test(NAME ${_name} COMMAND ${TESSERA_LLVM_BIN}/lit -v --param build=${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/test/${folder})
  set_tests_properties(${_name} PROPERTIES TIMEOUT 600)
endfunction()
