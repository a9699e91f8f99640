# Every dependency is a Debian package found by CMake; nothing is vendored or downloaded.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(pugixml REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(CLI11 REQUIRED)

include(optional)

set(RINGSIDE_HAS_GLOO OFF)
set(RINGSIDE_HAS_GLOO_MISSING "RINGSIDE_GLOO=OFF")
if(NOT RINGSIDE_GLOO STREQUAL "OFF")
  ringside_optional(RINGSIDE_HAS_GLOO NAME Gloo FIND "find_package(Gloo QUIET)" HEADER gloo/config.h TARGETS gloo INSTALL libgloo-dev)
  if(RINGSIDE_HAS_GLOO)
    find_package(Gloo QUIET)
    include(gloo_pairs)
  elseif(RINGSIDE_GLOO STREQUAL "ON")
    message(FATAL_ERROR "RINGSIDE_GLOO=ON but ${RINGSIDE_HAS_GLOO_MISSING}")
  endif()
endif()

set(RINGSIDE_HAS_TORCH OFF)
set(RINGSIDE_HAS_TORCH_MISSING "RINGSIDE_TORCH=OFF")
if(RINGSIDE_EXAMPLES AND NOT RINGSIDE_TORCH STREQUAL "OFF")
  ringside_optional(RINGSIDE_HAS_TORCH NAME Torch FIND "find_package(Torch QUIET)" HEADER c10/macros/Macros.h TARGETS "\${TORCH_LIBRARIES}"
                    INSTALL libtorch-dev)
  if(RINGSIDE_HAS_TORCH)
    find_package(Torch QUIET)
  elseif(RINGSIDE_TORCH STREQUAL "ON")
    message(FATAL_ERROR "RINGSIDE_TORCH=ON but ${RINGSIDE_HAS_TORCH_MISSING}")
  endif()
endif()

# Fits the parameters of our models (lab/).
set(RINGSIDE_HAS_LAB OFF)
set(RINGSIDE_HAS_LAB_MISSING "RINGSIDE_LAB=OFF")
if(RINGSIDE_LAB)
  ringside_optional(RINGSIDE_HAS_LAB NAME Ceres FIND "find_package(Ceres QUIET)" HEADER ceres/version.h TARGETS Ceres::ceres INSTALL libceres-dev)
  if(RINGSIDE_HAS_LAB)
    find_package(Ceres QUIET)
  endif()
endif()

# Charts of report.html, as one file of JavaScript.
find_file(RINGSIDE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js DOC "Chart.js 3, for --report")

# HTTP of `--live`, in a program of its own (cli/live/main.cpp).
ringside_optional(RINGSIDE_HAS_HTTP NAME httplib FIND "find_package(PkgConfig REQUIRED)\npkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)"
                  HEADER httplib.h TARGETS PkgConfig::httplib INSTALL "libcpp-httplib-dev (with pkgconf)")
if(RINGSIDE_HAS_HTTP)
  find_package(PkgConfig QUIET)
  pkg_check_modules(httplib QUIET IMPORTED_TARGET cpp-httplib)
endif()

# Any MPI: what of ringside calls it is a module that is loaded when it is needed (real/backend/mpi/module.cpp).
set(RINGSIDE_HAS_MPI OFF)
set(RINGSIDE_HAS_MPI_MISSING "RINGSIDE_MPI=OFF")
if(NOT RINGSIDE_MPI STREQUAL "OFF")
  ringside_optional(RINGSIDE_HAS_MPI NAME MPI FIND "find_package(MPI QUIET COMPONENTS CXX)" HEADER mpi.h TARGETS MPI::MPI_CXX
                    TRACE mpicxx mpic++ INSTALL libopenmpi-dev)
  if(RINGSIDE_HAS_MPI)
    find_package(MPI QUIET COMPONENTS CXX)
  elseif(RINGSIDE_MPI STREQUAL "ON")
    message(FATAL_ERROR "RINGSIDE_MPI=ON but ${RINGSIDE_HAS_MPI_MISSING}")
  endif()
endif()

# GPU ranks: the CUDA Toolkit is needed to compile and its runtime is linked statically; of NCCL only the header is
# needed, because the library is looked for when the program runs. Ranks meet through Gloo.
set(RINGSIDE_HAS_NCCL OFF)
set(RINGSIDE_NCCL_MISSING "RINGSIDE_NCCL=OFF")
if(NOT RINGSIDE_NCCL STREQUAL "OFF")
  include(nccl)
  ringside_find_nccl(RINGSIDE_NCCL_MISSING)
  if(NOT RINGSIDE_NCCL_MISSING)
    set(RINGSIDE_HAS_NCCL ON)
  elseif(RINGSIDE_NCCL STREQUAL "ON")
    message(FATAL_ERROR "RINGSIDE_NCCL=ON but ${RINGSIDE_NCCL_MISSING}")
  endif()
endif()

if(RINGSIDE_TESTS)
  include(GoogleTest)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(RINGSIDE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
