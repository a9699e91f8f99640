// How errors of CUDA and NCCL reach the user; no GPU is needed to ask.

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/gpus.hpp"
#include "real/backend/nccl/communicator.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/settings.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(CudaErrors, NameTheGpuWhatItDidAndTheCauseAndWhetherTheMachineLacksIt) {
  const std::string busy = "it is busy: another process has it for itself";
  const std::string no_kernels =
      "this build has no kernels for it; build with CMAKE_CUDA_ARCHITECTURES set to its architecture";
  const struct {
    cudaError_t status;
    ErrorKind kind;
    std::string why;  ///< Empty: CUDA's own words.
  } table[] = {
      {cudaErrorMemoryAllocation, ErrorKind::environment, "it has not enough free memory"},
      {cudaErrorInitializationError, ErrorKind::environment,
       "CUDA cannot be used here; where this process is a copy (fork) of another one, that one must not have "
       "used CUDA before"},
      {cudaErrorDevicesUnavailable, ErrorKind::environment, busy},
      {cudaErrorDeviceAlreadyInUse, ErrorKind::environment, busy},
      {cudaErrorInsufficientDriver, ErrorKind::environment, ""},
      {cudaErrorNoDevice, ErrorKind::environment, ""},
      {cudaErrorInvalidDevice, ErrorKind::environment, ""},
      {cudaErrorNoKernelImageForDevice, ErrorKind::environment, no_kernels},
      {cudaErrorUnsupportedPtxVersion, ErrorKind::environment, no_kernels},
      {cudaErrorSystemDriverMismatch, ErrorKind::environment, ""},
      {cudaErrorSystemNotReady, ErrorKind::environment,
       "its driver is not ready; on machines with NVSwitch the fabric manager must run"},
      {cudaErrorCompatNotSupportedOnDevice, ErrorKind::environment, ""},
      {cudaErrorIllegalAddress, ErrorKind::failed, ""},
      {cudaErrorInvalidValue, ErrorKind::failed, ""}};
  for (const auto& row : table) {
    const Error error = cuda_error(row.status, 3, "reducing");
    const std::string own =
        std::string(cudaGetErrorString(row.status)) + " (" + cudaGetErrorName(row.status) + ")";
    EXPECT_EQ(error.kind(), row.kind) << cudaGetErrorName(row.status);
    EXPECT_EQ(error.what(), "GPU 3 failed while reducing: " + (row.why.empty() ? own : row.why));
  }
}

TEST(NcclErrors, ABrokenConnectionIsALostPeer) {
  const struct {
    ncclResult_t result;
    ErrorKind kind;
    std::string text;
  } table[] = {{ncclRemoteError, ErrorKind::peer_lost, "rank 2 lost a peer while running"},
               {ncclSystemError, ErrorKind::peer_lost, "rank 2 lost a peer while running"},
               {ncclInvalidUsage, ErrorKind::environment, "NCCL refuses this at rank 2 while running"},
               {ncclInvalidArgument, ErrorKind::environment, "NCCL refuses this at rank 2 while running"},
               {ncclUnhandledCudaError, ErrorKind::failed, "CUDA failed inside NCCL at rank 2 while running"},
               {ncclInternalError, ErrorKind::failed, "NCCL failed at rank 2 while running"}};
  for (const auto& row : table) {
    EXPECT_EQ(nccl_error(row.result, 2, "running", "").kind(), row.kind) << row.text;
    EXPECT_EQ(nccl_error(row.result, 2, "running", "").what(), row.text);
    EXPECT_EQ(nccl_error(row.result, 2, "running", "socket closed").what(), row.text + ": socket closed");
  }
}

TEST(NcclLibraryFile, WhatIsNoNcclIsRefusedWithItsName) {
  ::setenv("RINGSIDE_NCCL_LIBRARY", "libm.so.6", 1);
  EXPECT_THROW(
      try { NcclLibrary::load(); } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("libm.so.6 is no NCCL of version 2.18.0 or later"));
        EXPECT_EQ(error.kind(), ErrorKind::environment);
        throw;
      },
      Error);
  ::setenv("RINGSIDE_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  EXPECT_THROW(
      try { NcclLibrary::load(); } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nowhere/libnccl.so.2"));
        throw;
      },
      Error);
  ::unsetenv("RINGSIDE_NCCL_LIBRARY");
}

TEST(NcclLibraryFile, HasEveryFunctionThatIsUsed) {
  const GpuMachine machine = gpu_machine();
  if (!machine.nccl_version) {
    GTEST_SKIP() << machine.nccl_library;
  }
  EXPECT_GE(*machine.nccl_version, kOldestNccl);
}

}  // namespace
}  // namespace ringside
