"""NVIDIA's driver and compiler without a GPU: memory of this process, the host's compiler, and a
loop over threads, behind the functions of `cuda.bindings` that the package calls."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from enum import IntEnum
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from nhmech.compile.compiler import find_compiler
from nhmech.compile.gpu import TYPES

GUARD = 64      # numbers behind each block of memory that nobody may write to

SHIM = """
struct dim { unsigned x; };
static dim blockIdx, blockDim, threadIdx;
#define __global__
"""
LAUNCH = """
extern "C" void launch(unsigned blocks, unsigned block, long long count, double dt, long long k0,
                       long long steps, const double* u, long long hold, const double* theta,
                       double* x, double* health, const double* side, long long* status,
                       long long* done, long long every, double* record, long long mended) {
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)
      nhmech_kernel(count, dt, k0, steps, u, hold, theta, x, health, side,
                    status, done, every, record, mended);
}
"""


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_CONTEXT = 201


class nvrtcResult(IntEnum):
    NVRTC_SUCCESS = 0
    NVRTC_ERROR_COMPILATION = 6


OK = CUresult.CUDA_SUCCESS


class Driver:
    """One device. Its memory is full of NaN at first, and writing past its end is noticed; what
    needs a context fails without one."""

    CUdevice_attribute = SimpleNamespace(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=75,
                                         CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=76)
    DEVICE, CONTEXT, STREAM = 0, 4711, 0

    def __init__(self, folder: Path, capability: tuple[int, int] = (8, 6)) -> None:
        self.folder, self.capability, self.room = folder, capability, 1 << 32
        self.blocks: dict[int, np.ndarray] = {}
        self.launches = self.sent = self.waited = 0
        self.is_ready, self.current = False, None
        self.grids: list[int] = []

    # -- device ------------------------------------------------------------------------------------
    def cuInit(self, flags):
        assert flags == 0      # all others are reserved
        self.is_ready = True
        return (OK,)

    def cuDeviceGet(self, ordinal):
        assert self.is_ready and ordinal == self.DEVICE
        return OK, ordinal

    def cuDeviceGetAttribute(self, attribute, device):
        assert device == self.DEVICE
        return OK, self.capability[attribute - 75]

    def cuDevicePrimaryCtxRetain(self, device):
        assert device == self.DEVICE
        return OK, self.CONTEXT

    def cuCtxSetCurrent(self, context):
        self.current = context
        return (OK,)

    def _no_context(self):
        return None if self.current == self.CONTEXT else (CUresult.CUDA_ERROR_INVALID_CONTEXT, None)

    # -- code --------------------------------------------------------------------------------------
    def cuModuleLoadData(self, binary):
        return self._no_context() or (OK, load(binary, self.folder))

    def cuModuleGetFunction(self, module, name):
        assert name == b"nhmech_kernel"
        return OK, module

    def cuLaunchKernel(self, kernel, x, y, z, block_x, block_y, block_z, shared, stream, words,
                       extra):
        assert (y, z, block_y, block_z, shared, stream, extra) == (1, 1, 1, 1, 0, self.STREAM, 0)
        assert 1 <= block_x <= 1024
        self.launches += 1
        self.grids.append(x * block_x)
        values, types = words
        # what cuda.bindings takes for these types
        assert all(type(value) in (int, float) for value in values)
        kernel(x, block_x, *(kind(value) for kind, value in zip(types, values, strict=True)))
        return (OK,)

    def cuCtxSynchronize(self):
        self.waited += 1
        return (OK,)

    # -- memory ------------------------------------------------------------------------------------
    def cuMemAlloc(self, size):
        if size > self.room:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        block = np.full(size // 8 + GUARD, np.nan)
        self.blocks[block.ctypes.data] = block
        return self._no_context() or (OK, block.ctypes.data)

    def cuMemFree(self, address):
        assert np.isnan(self.blocks.pop(address)[-GUARD:]).all()
        return (OK,)

    def cuMemcpyHtoD(self, address, host, size):
        assert size and address % 8 == 0      # the driver refuses to copy nothing
        self.sent += size
        ctypes.memmove(address, host, size)
        return (OK,)

    def cuMemcpyDtoH(self, host, address, size):
        assert size and self.waited == self.launches
        ctypes.memmove(host, address, size)
        return (OK,)


_names = itertools.count()


@cache
def load(binary: bytes, folder: Path):
    """The launcher in a library that `Nvrtc` has made."""
    path = folder / f"kernel{next(_names)}.so"
    path.write_bytes(binary)
    call = ctypes.CDLL(str(path)).launch
    call.argtypes, call.restype = [ctypes.c_uint, ctypes.c_uint, *TYPES], None
    return call


class Nvrtc:
    """The compiler, for three kinds of devices: its machine code is that of this processor."""

    nvrtcResult = nvrtcResult
    ARCHITECTURES = 70, 86, 90

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programmes: dict[int, dict[str, bytes]] = {}
        self.flags: list[bytes] = []
        self.destroyed = 0

    def nvrtcVersion(self):
        return nvrtcResult.NVRTC_SUCCESS, 0, 1      # no other compiler's

    def nvrtcGetSupportedArchs(self):
        return nvrtcResult.NVRTC_SUCCESS, [*self.ARCHITECTURES]

    def nvrtcCreateProgram(self, source, name, count, headers, names):
        assert (count, headers, names) == (0, [], []) and name.endswith(b".cu")
        handle = next(_names)
        self.programmes[handle] = {"source": source}
        return nvrtcResult.NVRTC_SUCCESS, handle

    def nvrtcCompileProgram(self, handle, count, flags):
        assert count == len(flags) and b"-default-device" in flags
        self.flags = flags
        compiler, path, programme = find_compiler(), self.folder / f"{handle}", self.programmes[
            handle]
        path.with_suffix(".cpp").write_bytes(SHIM.encode() + programme["source"] + LAUNCH.encode())
        done = subprocess.run(
            [compiler.path, *compiler.words, "-x", "c++", "-O1", "-fPIC", "-shared", "-o",
             f"{path}.so", f"{path}.cpp", "-lm"], capture_output=True)
        programme["log"] = done.stderr
        if done.returncode:
            return (nvrtcResult.NVRTC_ERROR_COMPILATION,)
        made = path.with_suffix(".so").read_bytes()
        target = next(flag for flag in flags if flag.startswith(b"-arch="))
        programme["CUBIN" if target.startswith(b"-arch=sm_") else "PTX"] = made
        return (nvrtcResult.NVRTC_SUCCESS,)

    def _size(self, handle, what):
        return nvrtcResult.NVRTC_SUCCESS, len(self.programmes[handle][what])

    def _write(self, handle, buffer, what):
        data = self.programmes[handle][what]
        assert len(buffer) == len(data)
        ctypes.memmove(buffer, data, len(data))      # as the library does, into the given memory
        return (nvrtcResult.NVRTC_SUCCESS,)

    def nvrtcGetProgramLogSize(self, handle):
        return self._size(handle, "log")

    def nvrtcGetProgramLog(self, handle, buffer):
        return self._write(handle, buffer, "log")

    def nvrtcGetCUBINSize(self, handle):
        return self._size(handle, "CUBIN")

    def nvrtcGetCUBIN(self, handle, buffer):
        return self._write(handle, buffer, "CUBIN")

    def nvrtcGetPTXSize(self, handle):
        return self._size(handle, "PTX")

    def nvrtcGetPTX(self, handle, buffer):
        return self._write(handle, buffer, "PTX")

    def nvrtcDestroyProgram(self, handle):
        del self.programmes[handle]
        self.destroyed += 1
        return (nvrtcResult.NVRTC_SUCCESS,)
