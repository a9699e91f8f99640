# Optional parts: whole, half or not installed at all, they never stop configuring. Find modules of half-installed packages end
# CMake with an error (openmpi-bin brings MPI's compiler wrappers without their headers), so each is first tried in a small
# project of its own. What is missing is tried again whenever CMake runs, since somebody may have installed it.

# Sets `variable` to ON when a program with `HEADER` that links `TARGETS` after `FIND` configures and builds, else to OFF, and
# `variable`_MISSING to the reason. Programs of TRACE, like a package's own CMake file, show
# that some of it is installed.
function(ringside_optional variable)
  cmake_parse_arguments(PART "" "NAME;FIND;HEADER;TARGETS;INSTALL" "TRACE" ${ARGN})
  if(CMAKE_DISABLE_FIND_PACKAGE_${PART_NAME})
    set(${variable}_TRIED absent)
  elseif(NOT "${${variable}_TRIED}" STREQUAL "whole")
    set(folder ${PROJECT_BINARY_DIR}/optional/${PART_NAME})
    file(REMOVE_RECURSE ${folder})
    set(trace "")
    if(PART_TRACE)
      list(JOIN PART_TRACE " " trace)
      set(trace "find_program(trace_program NAMES ${trace})")
    endif()
    file(WRITE ${folder}/main.cpp "#include <${PART_HEADER}>\nint main() { return 0; }\n")
    file(WRITE ${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(probe LANGUAGES CXX)\n"
         "set(CMAKE_CXX_STANDARD 20)\nfind_package(Threads)\n${trace}\n${PART_FIND}\n"
         "if(trace_program OR ${PART_NAME}_DIR)\n  message(STATUS \"some of it is here\")\nendif()\n"
         "add_executable(part main.cpp)\ntarget_link_libraries(part PRIVATE ${PART_TARGETS})\n")
    list(JOIN CMAKE_PREFIX_PATH "\\;" prefixes)
    # A compiler wrapper that the user named is the one to be tried, whatever else is installed.
    set(wrapper "")
    if(${PART_NAME}_CXX_COMPILER)
      set(wrapper -D${PART_NAME}_CXX_COMPILER=${${PART_NAME}_CXX_COMPILER})
    endif()
    execute_process(
      COMMAND ${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${CMAKE_GENERATOR} -DCMAKE_PREFIX_PATH=${prefixes}
              -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} ${wrapper}
      RESULT_VARIABLE failed
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output)
    if(NOT failed)
      execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/build RESULT_VARIABLE failed OUTPUT_VARIABLE built ERROR_VARIABLE built)
      string(APPEND output "${built}")
    endif()
    file(WRITE ${folder}/output.txt "${output}")
    # find_package that ends with an error ends before the trace is printed; nothing is found without an error otherwise.
    if(NOT failed)
      set(tried whole)
    elseif(output MATCHES "some of it is here|Configuring incomplete")
      set(tried half)
    else()
      set(tried absent)
    endif()
    set(${variable}_TRIED ${tried} CACHE INTERNAL "Whether ${PART_NAME} is whole, half or absent")
  endif()
  set(${variable} OFF PARENT_SCOPE)
  set(${variable}_MISSING "" PARENT_SCOPE)
  if(${variable}_TRIED STREQUAL "whole")
    set(${variable} ON PARENT_SCOPE)
  elseif(${variable}_TRIED STREQUAL "half")
    set(${variable}_MISSING
        "${PART_NAME} is installed in part only; install ${PART_INSTALL} (details: optional/${PART_NAME}/output.txt of the build folder)"
        PARENT_SCOPE)
  else()
    set(${variable}_MISSING "${PART_NAME} was not found; Debian package ${PART_INSTALL}" PARENT_SCOPE)
  endif()
endfunction()
