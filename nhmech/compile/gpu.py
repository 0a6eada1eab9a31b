"""Batches on an NVIDIA GPU: the kernel compiled by NVRTC, the driver called through
`cuda.bindings`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from ..errors import CompileError
from .cache import default_cache
from .cuda_kernel import kernel_source
from .lanes import LaneState
from .loop import MENDED
from .nvrtc import HELP, bindings, check, nvrtc_for

# threads that are started together: on an H100, 32 to 128 are equally fast within a tenth, and a
# limit on registers gains as little for some vehicles as it loses for others
BLOCK = 64
# instructions times cases of one launch: Ctrl-C and a desktop's watchdog wait for its end
LAUNCH = 20_000_000_000
RECORD = 256 * 2 ** 20              # [bytes] recorded on the device before they are fetched


@dataclass(frozen=True)
class Gpu:
    """The first GPU with the driver's main context on it."""

    context: object
    capability: int

    def load(self, code: str) -> Any:
        """`nhmech_kernel` of the source, compiled, or from the cache."""
        driver = bindings().driver
        binary = default_cache().library(code, nvrtc_for(self.capability), code.count("\n"))
        self.use()
        module = check(driver.cuModuleLoadData(binary.read_bytes()))
        return check(driver.cuModuleGetFunction(module, b"nhmech_kernel"))

    def use(self) -> None:
        """Makes the context that of the calling thread."""
        check(bindings().driver.cuCtxSetCurrent(self.context))

    def allocate(self, size: int) -> int:
        """Address of so many bytes on the device."""
        return int(check(bindings().driver.cuMemAlloc(size),
                           f"{size / 2 ** 20:.0f} MiB on the GPU for this batch"))

    def free(self, address: int) -> None:
        bindings().driver.cuMemFree(address)

    def send(self, array: np.ndarray, address: int) -> None:
        """Copies a contiguous array to the device."""
        if array.nbytes:
            check(bindings().driver.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))

    def fetch(self, array: np.ndarray, address: int) -> None:
        """Copies from the device into a contiguous array, when the launches before it are done."""
        if array.nbytes:
            check(bindings().driver.cuMemcpyDtoH(array.ctypes.data, address, array.nbytes))

    def launch(self, kernel, threads: int, values: tuple, types: tuple) -> None:
        """Starts at least so many threads and waits for them."""
        driver = bindings().driver
        check(driver.cuLaunchKernel(kernel, -(-threads // BLOCK), 1, 1, BLOCK, 1, 1, 0, 0,
                                      (values, types), 0))
        check(driver.cuCtxSynchronize())


POINTER, INTEGER, REAL = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
TYPES = (INTEGER, REAL, INTEGER, INTEGER, POINTER, INTEGER, *[POINTER] * 6, INTEGER, POINTER,
         INTEGER)


@dataclass(frozen=True)
class Kernel:
    """A step function on the GPU; the interface of `Lanes`."""

    gpu: Gpu
    function: object
    cost: int
    width: int = 1

    def run(self, state: LaneState, u: np.ndarray, theta: np.ndarray, *, dt: float, k0: int,
            steps: int, hold: int = 1, every: int = 1, record: np.ndarray | None = None,
            spread: Callable = map, parts: int = 1, mended: int = MENDED) -> None:
        """As `Lanes.run`; `spread` and `parts` are not used."""
        self.gpu.use()
        count, nx = state.count, len(state.x)
        # or one period for all steps
        held, hold = (u, hold) if u.ndim == 3 else (u[None], k0 + steps)
        room = steps if record is None else max(1, RECORD // (8 * nx * count)) * every
        most = min(steps, room, max(1, LAUNCH // (self.cost * count)))
        kept = [state.x, state.health, state.side, state.status, state.done]
        given = [np.ascontiguousarray(theta.T), *kept]
        launches = [(k, min(most, k0 + steps - k)) for k in range(k0, k0 + steps, most)]
        periods = [(k // hold, -(-(k + n) // hold)) for k, n in launches]
        rows = [] if record is None else [record[-(-k // every):-(-(k + n) // every)]
                                          for k, n in launches]
        sizes = (*(array.nbytes for array in given),
                 held[0].nbytes * max(last - first for first, last in periods),
                 max((part.nbytes for part in rows), default=0))
        offsets = np.cumsum([0, *(-(-size // 256) * 256 for size in sizes)]).tolist()
        memory = self.gpu.allocate(offsets[-1])
        *at, u_at, record_at = (memory + offset for offset in offsets[:-1])
        try:
            for array, address in zip(given, at):
                self.gpu.send(array, address)
            sent = None
            for i, (k, n) in enumerate(launches):
                if periods[i] != sent:
                    self.gpu.send(np.ascontiguousarray(held[slice(*periods[i])].swapaxes(1, 2)),
                                  u_at)
                    sent = periods[i]
                values = (count, dt, k, n, u_at, hold, *at, every, record_at if rows else 0,
                          mended)
                self.gpu.launch(self.function, count, values, TYPES)
                if rows:
                    self.gpu.fetch(rows[i], record_at)
            for array, address in zip(kept, at[1:]):
                self.gpu.fetch(array, address)
        finally:
            self.gpu.free(memory)


def compile_kernel(cost: int, step: ca.Function, swift: ca.Function | None = None) -> Kernel:
    """Compiles the kernel of a step (t, x, u, theta, dt, side, guard) -> (x, health, status), for
    the first GPU; `cost` in instructions, and `swift` as in `compile_lanes`."""
    try:
        device = first_gpu()
        return Kernel(device, device.load(kernel_source(step, swift)), cost)
    except CompileError:
        raise
    # cuda.bindings has its own kinds for a library that is not there
    except Exception as error:
        raise CompileError(f"no GPU can be used: {str(error).splitlines()[0]} {HELP}") from error


@lru_cache(maxsize=1)
def first_gpu() -> Gpu:
    """Raises `CompileError` if the driver has none."""
    driver, doing = bindings().driver, f"no GPU can be used. {HELP}. The driver says"
    check(driver.cuInit(0), doing)
    device = check(driver.cuDeviceGet(0), doing)
    names = [f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}" for part in ("MAJOR", "MINOR")]
    major, minor = (check(driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, name),
                                                      device)) for name in names)
    return Gpu(check(driver.cuDevicePrimaryCtxRetain(device)), 10 * major + minor)
