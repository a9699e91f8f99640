// How errors of CUDA and NCCL reach the user; no GPU is needed to ask.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/gpus.hpp"
#include "real/backend/nccl/communicator.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/settings.hpp"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CudaErrors, WhatTheMachineLacksIsAnErrorOfTheEnvironment) {
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorDevicesUnavailable, cudaErrorNoDevice,
                                   cudaErrorInsufficientDriver, cudaErrorSystemNotReady}) {
    EXPECT_EQ(cuda_error(status, 3, "working").kind(), ErrorKind::environment) << cudaGetErrorName(status);
  }
  EXPECT_EQ(cuda_error(cudaErrorIllegalAddress, 3, "working").kind(), ErrorKind::failed);
}

TEST(CudaErrors, NameTheGpuWhatItDidAndTheCause) {
  EXPECT_THAT(cuda_error(cudaErrorDevicesUnavailable, 3, "being taken").what(),
              AllOf(HasSubstr("GPU 3"), HasSubstr("being taken"), HasSubstr("busy")));
  EXPECT_THAT(cuda_error(cudaErrorIllegalAddress, 0, "reducing").what(),
              AllOf(HasSubstr("reducing"), HasSubstr("cudaErrorIllegalAddress")));
}

TEST(NcclErrors, ABrokenConnectionIsALostPeer) {
  EXPECT_EQ(nccl_error(ncclRemoteError, 2, "running", "").kind(), ErrorKind::peer_lost);
  EXPECT_EQ(nccl_error(ncclSystemError, 2, "running", "").kind(), ErrorKind::peer_lost);
  EXPECT_EQ(nccl_error(ncclInvalidUsage, 2, "running", "").kind(), ErrorKind::environment);
  EXPECT_EQ(nccl_error(ncclInternalError, 2, "running", "").kind(), ErrorKind::failed);
  EXPECT_STREQ(nccl_error(ncclRemoteError, 2, "running", "socket closed").what(),
               "rank 2 lost a peer while running: socket closed");
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
