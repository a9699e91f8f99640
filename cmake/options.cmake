# Language standard, warnings and include root of every target of ours.
add_library(ringside_options INTERFACE)
target_compile_features(ringside_options INTERFACE cxx_std_20)
target_include_directories(ringside_options INTERFACE ${PROJECT_SOURCE_DIR})
# Of the C++ compiler alone: nvcc takes other words, and its headers were not written for these.
set(RINGSIDE_WARNINGS
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wconversion
    -Wsign-conversion
    -Wold-style-cast
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -Wcast-align
    -Wimplicit-fallthrough
    -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND RINGSIDE_WARNINGS
       -Wduplicated-cond
       -Wlogical-op
       # GCC 12 reports these two inside its own std::string and std::vector when it optimises (GCC PR 105329, 105651,
       # 105562); neither has found a fault of ours.
       -Wno-restrict
       -Wno-stringop-overflow)
else()
  # GCC is what ringside is written for; Clang compiles it for scripts/fuzz alone.
  list(APPEND RINGSIDE_WARNINGS -Wno-missing-field-initializers -Wno-missing-braces -Wno-unused-const-variable)
endif()
target_compile_options(ringside_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${RINGSIDE_WARNINGS}>")

option(RINGSIDE_WERROR "Treat warnings as errors" OFF)
if(RINGSIDE_WERROR)
  target_compile_options(ringside_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()

# What the loader has bound nobody can exchange any more. WebAssembly has neither loader nor return addresses in its memory.
if(NOT EMSCRIPTEN)
  target_link_options(ringside_options INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)
  # What users run is hardened: calls of the C library check the sizes that they know, a function with an array notices when the stack
  # behind it was written to, and the program lies somewhere else each time. docs/security.md says what that costs.
  set(release $<CONFIG:Release>)
  set(program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  set(shared $<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>)
  target_compile_options(
    ringside_options INTERFACE "$<$<AND:${release},$<COMPILE_LANGUAGE:CXX>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong>"
                               "$<$<AND:${release},$<COMPILE_LANGUAGE:CXX>,$<NOT:${shared}>>:-fPIE>")
  target_link_options(ringside_options INTERFACE "$<$<AND:${release},${program}>:-pie>")
endif()

set(RINGSIDE_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
if(RINGSIDE_SANITIZE)
  target_compile_options(ringside_options INTERFACE -fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(ringside_options INTERFACE -fsanitize=${RINGSIDE_SANITIZE})
  if(RINGSIDE_SANITIZE STREQUAL "thread")
    # The thread sanitizer does not model fences; shared memory uses two so that no wake-up is lost. What is handed over
    # goes through acquire and release, which it does model.
    target_compile_options(ringside_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>)
  endif()
  if(RINGSIDE_SANITIZE MATCHES "undefined")
    # A finding must fail the test that met it. Null pointers are not asked for at each access, which costs a quarter of the
    # compiler's time: the address sanitizer stops at them. Nor is alignment: what we compile for reads unaligned numbers.
    target_compile_options(ringside_options INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=null,alignment)
  endif()
endif()

# Fuzzing with libFuzzer (scripts/fuzz) takes Clang, which is optional: without it everything else is configured as before.
option(RINGSIDE_FUZZ "Build tests/fuzz with libFuzzer, everything with its coverage and with sanitizers; needs Clang" OFF)
set(RINGSIDE_HAS_FUZZ OFF)
if(RINGSIDE_FUZZ AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(RINGSIDE_HAS_FUZZ ON)
  # Numbers too large for the type that they are converted to are no part of `undefined`.
  set(RINGSIDE_FUZZ_SANITIZERS -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(ringside_options INTERFACE -fsanitize=fuzzer-no-link ${RINGSIDE_FUZZ_SANITIZERS})
  target_link_options(ringside_options INTERFACE ${RINGSIDE_FUZZ_SANITIZERS})
endif()

option(RINGSIDE_COVERAGE "Count which lines of real/backend/nccl its rehearsal runs (scripts/coverage)" OFF)

# For what only reads and writes text: -O1 compiles a fifth faster than -O2. The page (web/) is small throughout.
function(ringside_compiles_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${EMSCRIPTEN}>,,-O1>>)
endfunction()

# Several sources compiled as one file share what they parse and instantiate: a whole build takes half the time, a changed file
# more. For builds from nothing (presets `release`, `asan`, `tsan`), not for development.
option(RINGSIDE_UNITY "Compile several sources of a target together" OFF)
function(ringside_compiles_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RINGSIDE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()
# Sources whose unnamed namespaces have names that others' have, too.
function(ringside_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# A module: a static library that sees the include root and links the modules above it.
function(ringside_module name)
  cmake_parse_arguments(MODULE "" "" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  add_library(ringside_${name} STATIC ${MODULE_SOURCES})
  add_library(ringside::${name} ALIAS ringside_${name})
  # How we compile is not how those who use an installed library have to.
  target_link_libraries(ringside_${name} PUBLIC $<BUILD_INTERFACE:ringside_options>)
  foreach(module IN LISTS MODULE_MODULES)
    target_link_libraries(ringside_${name} PUBLIC ringside_${module})
  endforeach()
  target_link_libraries(ringside_${name} PRIVATE ${MODULE_LIBRARIES})
  target_precompile_headers(ringside_${name} REUSE_FROM ringside_precompiled)
  ringside_compiles_together(ringside_${name})
endfunction()

# All programs of unit tests: what the sanitizers build, and nothing that only people run.
add_custom_target(unit_tests)
# Those of modules whose code runs in several threads: the thread sanitizer has nothing to see in the others.
add_custom_target(threaded_unit_tests)

# A test program of one module. Each GoogleTest case becomes a CTest test with the given label; THREADED is for modules that
# tests/lint/check_layering.py lets have threads.
function(ringside_test name)
  cmake_parse_arguments(TEST "THREADED" "LABEL;TIMEOUT" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL unit)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  # fmt, because its headers are among the precompiled ones.
  target_link_libraries(${name} PRIVATE ringside_options GTest::gmock GTest::gtest_main fmt::fmt ${TEST_LIBRARIES})
  foreach(module IN LISTS TEST_MODULES)
    target_link_libraries(${name} PRIVATE ringside_${module})
  endforeach()
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR})
  # Nothing in a test is timed.
  ringside_compiles_fast(${name})
  # With its own std::string in a precompiled header, GCC 12 takes `std::string(A) + B` for an access behind a short string
  # (GCC PR 105651) wherever the length of A is known, as that of a folder's path is here.
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overread)
  target_precompile_headers(${name} REUSE_FROM ringside_tests_precompiled)
  ringside_compiles_together(${name})
  if(TEST_LABEL STREQUAL unit)
    add_dependencies(unit_tests ${name})
  endif()
  if(TEST_THREADED)
    add_dependencies(threaded_unit_tests ${name})
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT} DISCOVERY_TIMEOUT 240)
endfunction()

# A program that scripts/bundle packs: it finds libraries in ../lib beside it before the system's. The old kind of run
# path also counts for the libraries that libraries need.
function(ringside_relocatable name)
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
endfunction()
