# What `cmake --install` puts where, and how other projects find it: find_package(Tessera) and pkg-config.
# Included at the end of the root file. Parts that this build does not have are left out.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What ./dev install builds: an installation needs no tests.
add_custom_target(tessera-installed)
set(_tessera_libraries "")
foreach(_target IN ITEMS tessera tessera-runtime)
  if(TARGET ${_target})
    list(APPEND _tessera_libraries ${_target})
    add_dependencies(tessera-installed ${_target})
    # The libraries find each other where they are installed, and LLVM's where they were linked from.
    set_target_properties(${_target} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
    target_include_directories(${_target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endif()
endforeach()

if(_tessera_libraries)
  install(TARGETS ${_tessera_libraries} EXPORT TesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TesseraConfig.cmake.in TesseraConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
  write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/TesseraModel.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
  # The way from the file's folder up to the prefix, so that an installation can be moved.
  file(RELATIVE_PATH TESSERA_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" TESSERA_PC_TO_PREFIX ${TESSERA_PC_TO_PREFIX})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tessera.pc.in tessera.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/frontend/include)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # Those headers of the runtime that the public ones include, as they find them beside themselves.
  install(FILES ${PROJECT_SOURCE_DIR}/runtime/DType.h ${PROJECT_SOURCE_DIR}/runtime/Device.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/runtime)
endif()

# The main function of executables, which `tessera` looks for in ../lib.
if(TARGET tessera-main)
  add_dependencies(tessera-installed tessera-main)
  install(TARGETS tessera-main ARCHIVE DESTINATION lib)
endif()

foreach(_tool IN ITEMS tessera-tool tessera-opt tessera-reduce tessera-lsp-server)
  if(TARGET ${_tool})
    set_target_properties(${_tool} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    add_dependencies(tessera-installed ${_tool})
    install(TARGETS ${_tool} EXPORT TesseraTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
