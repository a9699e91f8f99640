# Precompiled headers, each compiled once: one for all modules, one for all tests. GCC 13 and later do not take one into a target that
# is optimised less (`ringside_compiles_fast`) and read the headers there instead: nothing to warn of.
set(CMAKE_PCH_WARN_INVALID OFF)
function(ringside_precompile name header)
  # CMake gives headers to a target with at least one source.
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  target_link_libraries(${name} PRIVATE ringside_options fmt::fmt ${ARGN})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
endfunction()

ringside_precompile(ringside_precompiled precompiled.hpp)
if(RINGSIDE_TESTS)
  ringside_precompile(ringside_tests_precompiled precompiled_tests.hpp GTest::gmock rapidcheck)
endif()
