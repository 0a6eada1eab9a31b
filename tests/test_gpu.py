"""Batches on a GPU: the kernel's source run by the host's compiler, compiled by NVRTC where there
is one, and what is said without a GPU.

Only NVIDIA's driver and compiler need a GPU; here memory of this process, the host's compiler and
a loop over threads take their place (`cuda_stand_in`).
"""

from __future__ import annotations

import ctypes
import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from cuda_stand_in import CUresult, Driver, Nvrtc
from support import VARIED, needs_compiler, random_states, shipped

import nhmech
from nhmech.compile import gpu, nvrtc
from nhmech.compile.cuda_kernel import kernel_source
from nhmech.compile.gpu import BLOCK, TYPES
from nhmech.compile.loop import MENDED
from nhmech.compile.status import Status
from nhmech.simulation import batch_input
from nhmech.simulation.batch_input import start_cases, stepper

DRIVING = {"left_wheel_joint": 4.0, "right_wheel_joint": 2.5}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def host(folder, monkeypatch):
    """`device="gpu"` goes to this process."""
    driver = Driver(folder)
    stand_in(monkeypatch, driver, Nvrtc(folder))
    monkeypatch.setattr(batch_input, "_kept",
                        {key: made for key, made in batch_input._kept.items() if key[1] == "cpu"})
    yield driver
    # all memory was given back
    assert not driver.blocks
    gpu.first_gpu.cache_clear()


def stand_in(monkeypatch, driver, compiler=None):
    """In place of NVIDIA's libraries."""
    gpu.first_gpu.cache_clear()
    for module in (gpu, nvrtc):
        monkeypatch.setattr(module, "bindings",
                            lambda: SimpleNamespace(driver=driver, nvrtc=compiler))


@pytest.fixture
def drive():
    return shipped("differential_drive")


def both(constrained, *given, **options):
    return [nhmech.simulate_batch(constrained, *given, **options,
                                  device=device) for device in ("cpu", "gpu")]


def agree(cpu, kernel, rtol=1e-10):
    np.testing.assert_allclose(kernel.x, cpu.x, rtol=rtol, atol=rtol)
    for name in ("status", "stopped_at", "u", "t", "theta"):
        np.testing.assert_array_equal(getattr(kernel, name), getattr(cpu, name), err_msg=name)


# -- the kernel's arithmetic and indices -----------------------------------------------------------
@needs_compiler
@pytest.mark.parametrize("name", VARIED)
def test_steps_agree_with_those_of_the_cpu(name, host):
    vehicle = shipped(name)
    vector = stepper(vehicle).state_vector
    states = [(q, xi, u)
              for chosen, q, xi, u in random_states(vehicle, 5, seed=7) if chosen is vehicle]
    x0, u = np.array([vector.assemble(q, xi)
                      for q, xi, _ in states]), np.array([u for *_, u in states])
    cpu, kernel = both(vehicle, x0, u, dt=1e-3, duration=0.003)
    agree(cpu, kernel, rtol=1e-11)
    # onto the constraints, and the steps
    assert cpu.ok.any() and host.launches == 2


@needs_compiler
def test_more_cases_than_one_block_with_parameters_and_inputs_of_their_own(host):
    drive = shipped("differential_drive").with_parameters(
        symbolic=("base_link.mass", "payload.mass")
    )
    rng, count = np.random.default_rng(1), 2 * BLOCK + 3
    x0 = nhmech.start_states(drive,
                             [(*rng.normal(size=2), rng.uniform(-3, 3)) for _ in range(count)],
                             xi=DRIVING)
    theta = drive.theta * rng.uniform(0.7, 1.4, size=(count, 2)) + [0, 1]
    u = rng.normal(size=(count, 50, 2)) * 0.05
    cpu, kernel = both(drive, x0, u, dt=1e-3, duration=0.2, every=7, control_period=0.004,
                       theta=theta)
    agree(cpu, kernel)
    assert cpu.ok.all() and np.ptp(cpu.xi[-1], axis=0).min() > 0.1
    for held in (u[0], u[0, 0], None):
        agree(*both(drive, x0[:5], held[:5] if held is not None and held.ndim == 2 else held,
                    dt=1e-3, duration=0.02, every=3))


@needs_compiler
@pytest.mark.parametrize("every, hold", [(1, 1), (3, 4), (50, 7), (1000, 1000)])
def test_a_run_cut_into_launches_is_the_same_run(host, monkeypatch, every, hold):
    drive = shipped("differential_drive")
    x0 = nhmech.start_states(drive, [(0.0, 0.1 * i, 0.3 * i) for i in range(5)], xi=DRIVING)
    u = np.random.default_rng(2).normal(size=(5, -(-100 // hold), 2)) * 0.05
    options = dict(dt=1e-3, duration=0.1, every=every, control_period=hold * 1e-3)
    cpu, whole = both(drive, x0, u, **options)
    agree(cpu, whole)
    # a step of all cases; a state of all of them
    work, size = 5 * stepper(drive, device="gpu").cost, x0.nbytes
    for name, value, launches in (
            ("LAUNCH", 11 * work, 10), ("LAUNCH", work - 1, 100),
            ("RECORD", 3 * size, -(-100 // (3 * every))), ("RECORD", size - 1, -(-100 // every))):
        before = host.launches
        with monkeypatch.context() as patch:
            patch.setattr(gpu, name, value)
            np.testing.assert_array_equal(
                nhmech.simulate_batch(drive, x0, u, **options, device="gpu").x, whole.x
            )
        assert host.launches == before + 1 + launches       # and one onto the constraints


@needs_compiler
def test_inputs_that_are_held_are_sent_once(host, drive, monkeypatch):
    made, count = stepper(drive, device="gpu"), 3
    x0 = nhmech.start_states(drive, [(0.1 * i, 0, 0) for i in range(count)], xi=DRIVING)
    sent = []
    for most in (20, 1):                # steps of a launch
        monkeypatch.setattr(gpu, "LAUNCH", most * count * made.cost)
        before = host.sent, host.launches
        nhmech.simulate_batch(drive, x0, [0.01, 0.02], dt=1e-3, duration=0.02, every=20,
                              device="gpu")
        sent.append(host.sent - before[0])
        assert host.launches == before[1] + 1 + 20 // most
    assert sent[0] == sent[1]


@needs_compiler
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_only_each_so_many_th_step_is_thorough_where_the_motion_keeps_the_ground(host, device,
                                                                                 drive):
    """The others leave a height above the ground as it is."""
    made, count = stepper(drive, device=device), 3
    x0 = nhmech.start_states(drive, [(0.1 * i, 0, 0) for i in range(count)], xi=DRIVING)
    state, u = start_cases(made, x0, np.zeros((count, 0))), np.zeros((count, 2))
    z = made.names["x"].index("z")
    flat = state.x[z].copy()
    state.x[z] += 1e-9
    for k0, steps, height in ((0, 20, 1e-9), (20, MENDED - 21, 1e-9), (MENDED - 1, 1, 0.0),
                              (MENDED, 5, 0.0)):
        made.runner.run(state, u, np.zeros((count, 0)), dt=1e-3, k0=k0, steps=steps)
        np.testing.assert_allclose(state.x[z] - flat, height, rtol=0, atol=1e-15)
    assert not state.status.any()


@needs_compiler
def test_a_policy_and_a_case_that_fails(host):
    drive = shipped("differential_drive")
    x0 = nhmech.start_states(drive, [(0.0, 0.1 * i, 0.3 * i) for i in range(5)], xi=DRIVING)

    def policy(t, x):
        u = 0.1 * (np.array([3.0, 2.0]) - x[:, -2:])
        u[3] = np.nan if t > 0.0195 else u[3]
        return u

    cpu, kernel = both(drive, x0, policy, dt=1e-3, duration=0.06, every=4, control_period=0.01)
    agree(cpu, kernel)
    assert kernel.status.tolist() == [0, 0, 0, Status.UNCOMMANDED, 0]
    assert kernel.stopped_at[3] == pytest.approx(0.02, abs=1e-15)


@needs_compiler
def test_discs_that_lie_down_and_a_car_that_turns_about_its_wheel_stop_where_they_do_on_the_cpu(
    host,
):
    disc = shipped("disc")
    poses = [(0, 0, 0.3, roll, 0, 0) for roll in (0.6, 0.9, 1e-9)]
    cpu, kernel = both(disc, nhmech.start_states(disc, poses), dt=1e-3, duration=0.6)
    np.testing.assert_array_equal(kernel.status, cpu.status)
    # a fall magnifies the last bit
    np.testing.assert_allclose(kernel.stopped_at, cpu.stopped_at, atol=1.5e-3)
    np.testing.assert_allclose(kernel.x[:, :100], cpu.x[:, :100], rtol=1e-10, atol=1e-10)
    assert (cpu.status[:2] != 0).all()
    car = shipped("ackermann_car")
    x0 = np.concatenate(
        [
            nhmech.start_states(
                car,
                [(0, 0, 0)],
                xi={"front_left_steering_joint": rate, "rear_left_wheel_joint": 2.0},
            )
            for rate in (5.0, 0.5)
        ]
    )
    agree(*both(car, x0, dt=1e-3, duration=0.4, every=100))
    agree(*both(car, x0, dt=1.0, duration=5.0))            # too long a step


# -- the driver and NVRTC --------------------------------------------------------------------------
@needs_compiler
def test_a_batch_needs_no_context_of_its_callers(host, drive):
    """Another library may have made its own the present one, before the code is loaded or after. A
    launch has as few blocks as hold all cases, and is waited for."""
    x0 = nhmech.start_states(drive, [(0, 0, 0.1 * i) for i in range(BLOCK + 1)], xi=DRIVING)
    runs = []
    for count in (BLOCK + 1, BLOCK, 1):
        host.current = 1234
        runs.append(nhmech.simulate_batch(drive, x0[:count], dt=1e-3, duration=0.004, device="gpu"))
        assert host.grids[-1] == -(-count // BLOCK) * BLOCK
    np.testing.assert_array_equal(runs[1].x, runs[0].x[:BLOCK])
    assert host.waited == host.launches == 6


def test_too_little_memory_is_said_in_numbers(host):
    host.room = 2 ** 20
    device = gpu.first_gpu()
    device.use()
    with pytest.raises(nhmech.CompileError, match=r"^3 MiB on the GPU for this batch: "
                                                  r"CUDA_ERROR_OUT_OF_MEMORY \(2\)$"):
        device.allocate(3 << 20)
    device.free(device.allocate(1 << 20))


@pytest.mark.parametrize("capability, target", [
    (70, "sm_70"), (75, "compute_70"), (86, "sm_86"), (89, "compute_86"), (90, "sm_90"),
    (125, "compute_90")])
def test_code_is_machine_code_where_nvrtc_knows_the_gpu(host, capability, target):
    """Else portable code for the newest one before it; the capabilities are those that it knows
    (`Nvrtc.ARCHITECTURES`)."""
    compiler = nvrtc.nvrtc_for(capability)
    assert (compiler.path, compiler.version, compiler.words) == ("nvrtc", "0.1", (target,))
    assert compiler.flags(0) == (f"-arch={target}", "-default-device", "-std=c++17")


def test_a_gpu_that_is_too_old_is_named(host):
    with pytest.raises(nhmech.CompileError, match="NVRTC 0.1 makes code for GPUs of compute "
                       "capability 7.0 and later, and this one has 6.1; pip install an older"):
        nvrtc.nvrtc_for(61)


@needs_compiler
@pytest.mark.parametrize("target", ["sm_90", "compute_90"])
def test_what_nvrtc_makes_is_written_and_its_programme_let_go(host, folder, target, tmp_path):
    """Also where it fails; what it says of the code is in the error, as far as 2000 characters."""
    made = Nvrtc(folder)
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch, host, made)
        compiler = nvrtc.Nvrtc("nvrtc", "0.1", (target,))
        source, binary = tmp_path / "step.cu", tmp_path / "step.bin"
        source.write_text(kernel_source(
            stepper(shipped("differential_drive")).step))
        compiler.build(source, binary, 0)
        assert binary.read_bytes().startswith(b"\x7fELF")
        assert made.flags == [flag.encode() for flag in compiler.flags(0)] and made.destroyed == 1
        source.write_text("".join(f"float wrong{i} = ;\n" for i in range(100)))
        with pytest.raises(nhmech.CompileError) as error:
            compiler.build(source, binary, 0)
        assert made.destroyed == 2 and not made.programmes
    head, _, log = str(error.value).partition(": ")
    assert head == f"NVRTC failed on generated code ({' '.join(compiler.flags(0))})"
    assert len(log) == 2000 and "wrong0" in log


def test_an_answer_is_without_its_status():
    ok = CUresult.CUDA_SUCCESS
    assert nvrtc.check((ok,)) == () and nvrtc.check((ok, 3)) == 3 and nvrtc.check((ok, 3, 4)) == (
        3, 4)
    with pytest.raises(nhmech.CompileError,
                       match=r"^the GPU's driver or compiler: CUDA_ERROR_OUT_OF_MEMORY \(2\)$"):
        nvrtc.check((CUresult.CUDA_ERROR_OUT_OF_MEMORY, None))


def test_nvidias_libraries_are_found(monkeypatch):
    package, found = ModuleType("cuda.bindings"), [ModuleType(f"cuda.bindings.{name}")
                                                   for name in ("driver", "nvrtc")]
    package.driver, package.nvrtc = found
    for name, module in (("cuda", ModuleType("cuda")), ("cuda.bindings", package),
                         *((one.__name__, one) for one in found)):
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["cuda"].bindings = package
    assert [nvrtc.bindings().driver, nvrtc.bindings().nvrtc] == found


# -- CUDA ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["differential_drive", "bicycle"])
@pytest.mark.parametrize("capability, target", [(80, "sm_80"), (125, "compute_")])
def test_nvrtc_compiles_the_source(name, capability, target, tmp_path):
    """Machine code for a GPU that it knows, PTX for one that is newer than itself; both need no
    GPU."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")
    try:
        compiler = nvrtc.nvrtc_for(capability)
    except Exception as error:
        pytest.skip(f"NVRTC is not installed: {error}")
    assert compiler.words[0].startswith(target)
    source, made = tmp_path / "step.cu", tmp_path / "step.bin"
    source.write_text(kernel_source(stepper(shipped(name)).step))
    compiler.build(source, made, 0)
    if target == "sm_80":
        assert made.read_bytes().startswith(b"\x7fELF") and b"nhmech_kernel" in made.read_bytes()
    else:
        head = re.search(r"\.visible \.entry nhmech_kernel\((.*?)\)", made.read_text(), re.S)[1]
        kinds = {ctypes.c_double: ".f64", ctypes.c_longlong: ".u64", ctypes.c_void_p: ".u64"}
        # what `launch` passes
        assert re.findall(r"\.param (\.\w+)", head) == [kinds[kind] for kind in TYPES]
        assert ".f64" in made.read_text() and ".f32" not in made.read_text()
    source.write_text("float wrong = ;")
    with pytest.raises(nhmech.CompileError,
                       match="NVRTC failed on generated code.*expected an expression"):
        compiler.build(source, made, 0)


# -- without a GPU ---------------------------------------------------------------------------------
def asked_for_a_gpu(drive):
    gpu.first_gpu.cache_clear()
    with pytest.raises(nhmech.CompileError) as error:
        nhmech.simulate_batch(drive, nhmech.start_states(drive, [(0, 0, 0)]), dt=1e-3,
                              duration=0.002, device="gpu")
    gpu.first_gpu.cache_clear()
    assert ("pip install cuda-bindings nvidia-cuda-nvrtc" in str(error.value)
            and 'device="cpu"' in str(error.value) and "\n" not in str(error.value))
    return str(error.value)


def test_without_the_package_it_is_said_what_to_install(drive, monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    assert "cuda-bindings is missing" in asked_for_a_gpu(drive)


def test_without_a_driver_or_a_gpu(drive, monkeypatch):
    def no_library(flags):
        raise RuntimeError("libcuda.so.1 was not found\nsearched everywhere")

    def no_device(flags):
        return (type("CUresult", (int,), {"name": "CUDA_ERROR_NO_DEVICE"})(100),)

    for answer, words in ((no_library, "libcuda.so.1 was not found"),
                          (no_device, r"CUDA_ERROR_NO_DEVICE (100)")):
        monkeypatch.setattr(gpu, "bindings",
                            lambda: SimpleNamespace(driver=SimpleNamespace(cuInit=answer)))
        assert words in asked_for_a_gpu(drive)


def test_this_machine_runs_it_or_says_why_not(drive):
    """With a GPU the same numbers as on the processor; without, words."""
    x0 = nhmech.start_states(drive, [(0, 0, 0.1 * i) for i in range(100)], xi=DRIVING)
    try:
        gpu.first_gpu()
    except Exception:
        asked_for_a_gpu(drive)
        pytest.skip("no GPU here")
    agree(*both(drive, x0, [0.1, 0.2], dt=1e-3, duration=0.5, every=50))


def test_another_device_is_refused(drive):
    with pytest.raises(nhmech.InputError, match="device 'tpu' does not exist; there are cpu, gpu"):
        nhmech.simulate_batch(drive, np.zeros((1, 11)), dt=1e-3, duration=0.002, device="tpu")
