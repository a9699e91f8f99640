# Whether pairs of this Gloo let themselves be connected by real/backend/gloo/guarded_device.cpp, as those of Debian 12 do. Where not,
# they connect as Gloo has it (docs/security.md).
set(RINGSIDE_GLOO_MISSING_HEADERS "")
get_target_property(includes gloo INTERFACE_INCLUDE_DIRECTORIES)
find_file(RINGSIDE_GLOO_MEMORY_H gloo/common/memory.h HINTS ${includes})
if(NOT RINGSIDE_GLOO_MEMORY_H)
  set(RINGSIDE_GLOO_MISSING_HEADERS ${PROJECT_SOURCE_DIR}/real/backend/gloo/missing)
endif()
if(NOT DEFINED RINGSIDE_GLOO_GUARDED)
  try_run(RINGSIDE_GLOO_PAIRS_RAN RINGSIDE_GLOO_PAIRS_COMPILED ${PROJECT_BINARY_DIR}/optional/gloo_pairs ${PROJECT_SOURCE_DIR}/cmake/gloo_pairs.cpp
          CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${RINGSIDE_GLOO_MISSING_HEADERS}"
          LINK_LIBRARIES gloo CXX_STANDARD 20 COMPILE_OUTPUT_VARIABLE output)
  set(guarded OFF)
  if(RINGSIDE_GLOO_PAIRS_COMPILED AND RINGSIDE_GLOO_PAIRS_RAN EQUAL 0)
    set(guarded ON)
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/optional/gloo_pairs.txt "${output}")
  set(RINGSIDE_GLOO_GUARDED ${guarded} CACHE INTERNAL "Whether strangers cannot take the place of a rank that connects")
endif()
