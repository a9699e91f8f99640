// What include/ declares of CUDA and NCCL, compiled against include/ and, where they are installed, against
// the real headers: both must have these numbers and these functions.
#include <type_traits>

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace {

static_assert(cudaErrorInvalidValue == 1 && cudaErrorMemoryAllocation == 2 &&
              cudaErrorInitializationError == 3 && cudaErrorInsufficientDriver == 35);
static_assert(cudaErrorDevicesUnavailable == 46 && cudaErrorNoDevice == 100 && cudaErrorInvalidDevice == 101);
static_assert(cudaErrorNoKernelImageForDevice == 209 && cudaErrorDeviceAlreadyInUse == 216);
static_assert(cudaErrorUnsupportedPtxVersion == 222 && cudaErrorInvalidResourceHandle == 400);
static_assert(cudaErrorNotReady == 600 && cudaErrorIllegalAddress == 700 && cudaErrorLaunchFailure == 719);
static_assert(cudaErrorSystemNotReady == 802 && cudaErrorSystemDriverMismatch == 803);
static_assert(cudaErrorCompatNotSupportedOnDevice == 804 && cudaErrorStreamCaptureUnsupported == 900);
static_assert(cudaErrorStreamCaptureInvalidated == 901 && cudaErrorStreamCaptureMerge == 902);
static_assert(cudaErrorStreamCaptureUnmatched == 903 && cudaErrorStreamCaptureUnjoined == 904);
static_assert(cudaErrorStreamCaptureIsolation == 905 && cudaErrorCapturedEvent == 907);
static_assert(cudaMemcpyHostToDevice == 1 && cudaMemcpyDeviceToHost == 2 && cudaMemcpyDeviceToDevice == 3);
static_assert(cudaStreamCaptureModeGlobal == 0 && cudaStreamCaptureModeRelaxed == 2 &&
              cudaStreamNonBlocking == 1);
static_assert(cudaEventDefault == 0 && cudaEventDisableTiming == 2 && cudaDevAttrMultiProcessorCount == 16);

static_assert(ncclSuccess == 0 && ncclUnhandledCudaError == 1 && ncclSystemError == 2 &&
              ncclInternalError == 3);
static_assert(ncclInvalidArgument == 4 && ncclInvalidUsage == 5 && ncclRemoteError == 6 &&
              ncclInProgress == 7);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(ncclInt8 == 0 && ncclInt32 == 2 && ncclInt64 == 4 && ncclFloat16 == 6 && ncclFloat32 == 7);
static_assert(ncclFloat64 == 8 && ncclBfloat16 == 9 && sizeof(ncclUniqueId) == 128);

template <typename Function, typename Declared>
constexpr bool is = std::is_same_v<Function, Declared>;
using Error = cudaError_t;
using Result = ncclResult_t;
using Size = std::size_t;

static_assert(is<decltype(&cudaFree), Error (*)(void*)>);
static_assert(
    is<decltype(&cudaMemcpyAsync), Error (*)(void*, const void*, Size, cudaMemcpyKind, cudaStream_t)>);
static_assert(is<decltype(&cudaMemsetAsync), Error (*)(void*, int, Size, cudaStream_t)>);
static_assert(is<decltype(&cudaStreamCreateWithFlags), Error (*)(cudaStream_t*, unsigned)>);
static_assert(is<decltype(&cudaStreamWaitEvent), Error (*)(cudaStream_t, cudaEvent_t, unsigned)>);
static_assert(is<decltype(&cudaStreamBeginCapture), Error (*)(cudaStream_t, cudaStreamCaptureMode)>);
static_assert(is<decltype(&cudaStreamEndCapture), Error (*)(cudaStream_t, cudaGraph_t*)>);
static_assert(is<decltype(&cudaEventRecord), Error (*)(cudaEvent_t, cudaStream_t)>);
static_assert(is<decltype(&cudaEventQuery), Error (*)(cudaEvent_t)>);
static_assert(is<decltype(&cudaEventElapsedTime), Error (*)(float*, cudaEvent_t, cudaEvent_t)>);
static_assert(is<decltype(&cudaGraphLaunch), Error (*)(cudaGraphExec_t, cudaStream_t)>);

static_assert(
    is<decltype(&ncclCommInitRankConfig), Result (*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*)>);
static_assert(is<decltype(&ncclCommGetAsyncError), Result (*)(ncclComm_t, Result*)>);
static_assert(is<decltype(&ncclCommAbort), Result (*)(ncclComm_t)> &&
              is<decltype(&ncclGroupEnd), Result (*)()>);
static_assert(
    is<decltype(&ncclSend), Result (*)(const void*, Size, ncclDataType_t, int, ncclComm_t, cudaStream_t)>);
static_assert(
    is<decltype(&ncclRecv), Result (*)(void*, Size, ncclDataType_t, int, ncclComm_t, cudaStream_t)>);
static_assert(is<decltype(&ncclAllReduce), Result (*)(const void*, void*, Size, ncclDataType_t, ncclRedOp_t,
                                                      ncclComm_t, cudaStream_t)>);
static_assert(is<decltype(&ncclBroadcast),
                 Result (*)(const void*, void*, Size, ncclDataType_t, int, ncclComm_t, cudaStream_t)>);
static_assert(is<decltype(&ncclReduce), Result (*)(const void*, void*, Size, ncclDataType_t, ncclRedOp_t, int,
                                                   ncclComm_t, cudaStream_t)>);
static_assert(is<decltype(&ncclAllGather),
                 Result (*)(const void*, void*, Size, ncclDataType_t, ncclComm_t, cudaStream_t)>);
static_assert(is<decltype(&ncclReduceScatter), Result (*)(const void*, void*, Size, ncclDataType_t,
                                                          ncclRedOp_t, ncclComm_t, cudaStream_t)>);

// C++ has more of these names in the real headers; one of them is what is declared.
[[maybe_unused]] Error (*const malloc_as_declared)(void**, Size) = &cudaMalloc;
[[maybe_unused]] Error (*const instantiate_as_declared)(cudaGraphExec_t*, cudaGraph_t,
                                                        unsigned long long) = &cudaGraphInstantiate;

}  // namespace
