"""NVIDIA's run-time compiler, and errors of NVIDIA's libraries as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import CompileError
from .compiler import Compiler

HELP = ("device=\"gpu\" needs an NVIDIA GPU with its driver, and pip install cuda-bindings "
        "nvidia-cuda-nvrtc (a driver of CUDA 12: pip install 'cuda-bindings<13' "
        "nvidia-cuda-nvrtc-cu12). device=\"cpu\" gives the same numbers")


@dataclass(frozen=True)
class Nvrtc(Compiler):
    """NVIDIA's run-time compiler; `words` has its target: "sm_90" (machine code) or "compute_90"
    (PTX)."""

    def flags(self, instructions: int) -> tuple[str, ...]:
        """No fast-math: NaN must stay NaN. All functions are device functions."""
        return f"-arch={self.words[0]}", "-default-device", "-std=c++17"

    def build(self, source: Path, library: Path, instructions: int) -> None:
        """Compiles one file. Raises `CompileError` with the compiler's message."""
        nvrtc = bindings().nvrtc
        programme = check(nvrtc.nvrtcCreateProgram(source.read_bytes(), b"step.cu", 0, [], []))
        try:
            flags = [flag.encode() for flag in self.flags(instructions)]
            if nvrtc.nvrtcCompileProgram(programme, len(flags),
                                         flags)[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
                log = b" " * check(nvrtc.nvrtcGetProgramLogSize(programme))
                check(nvrtc.nvrtcGetProgramLog(programme, log))
                raise CompileError("NVRTC failed on generated code "
                                   f"({' '.join(self.flags(instructions))}): "
                                   f"{log.decode().strip()[:2000]}")
            size, text = ((nvrtc.nvrtcGetCUBINSize,
                           nvrtc.nvrtcGetCUBIN) if self.words[0].startswith("sm_") else
                          (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX))
            made = b" " * check(size(programme))
            check(text(programme, made))
            library.write_bytes(made)
        finally:
            nvrtc.nvrtcDestroyProgram(programme)


def nvrtc_for(capability: int) -> Nvrtc:
    """The compiler for a GPU of compute capability 10 major + minor. Raises `CompileError` if the
    GPU is too old for it."""
    nvrtc = bindings().nvrtc
    version, known = (".".join(map(str, check(nvrtc.nvrtcVersion()))),
                      check(nvrtc.nvrtcGetSupportedArchs()))
    if capability < min(known):
        raise CompileError(f"NVRTC {version} makes code for GPUs of compute capability "
                           f"{min(known) / 10} and later, and this one has {capability / 10}; pip "
                           "install an older nvidia-cuda-nvrtc")
    newest = max(arch for arch in known if arch <= capability)
    return Nvrtc("nvrtc", version,
                 (f"sm_{capability}" if newest == capability else f"compute_{newest}",))


def bindings():
    """`cuda.bindings` with `driver` and `nvrtc`. Raises `CompileError` if not installed."""
    try:
        import cuda.bindings
        from cuda.bindings import driver, nvrtc  # noqa: F401
    except ImportError as error:
        raise CompileError(f"the package cuda-bindings is missing ({error}). {HELP}") from error
    return cuda.bindings


def check(answer: tuple, doing: str = "the GPU's driver or compiler"):
    """The results of a call of the driver or of NVRTC, without its status. Raises `CompileError` if
    the status is an error."""
    status, *rest = answer
    if int(status):
        raise CompileError(f"{doing}: {status.name} ({int(status)})")
    return rest[0] if len(rest) == 1 else tuple(rest)
