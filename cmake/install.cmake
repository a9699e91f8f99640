# `cmake --install`: the program, and the public API for find_package(ringside).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(RINGSIDE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)

install(TARGETS ringside RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(RINGSIDE_HAS_MPI)
  install(TARGETS ringside_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(RINGSIDE_HAS_HTTP)
  install(TARGETS ringside_live RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# Where the program looks for machines by name (study/inputs/shipped_files.cpp).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/ringside)
# The public API and the modules behind it.
install(TARGETS ringside_api ringside_real ringside_schedule ringside_results ringside_common
        EXPORT ringside ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ringside FILE ringside-targets.cmake NAMESPACE ringside:: DESTINATION ${RINGSIDE_PACKAGE_DIR})

install(FILES ringside/communicator.hpp ringside/elements.hpp ringside/gpu_array.hpp ringside/launch.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside)
# They include "common/…", and one another likewise: include/ringside is one of the folders of headers that ringside::api names.
install(FILES common/collective.hpp common/error.hpp common/names.hpp common/spellings.hpp common/units.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside/common)

configure_package_config_file(cmake/ringside-config.cmake.in ringside-config.cmake
                              INSTALL_DESTINATION ${RINGSIDE_PACKAGE_DIR})
write_basic_package_version_file(ringside-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringside-config.cmake ${PROJECT_BINARY_DIR}/ringside-config-version.cmake
        DESTINATION ${RINGSIDE_PACKAGE_DIR})
