"""The step as a function of PyTorch and JAX: its gradient against CasADi's and against differences,
in batches and through many steps."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import InputError, SimulationError
from nhmech.analysis import step_jacobian
from nhmech.autodiff import jax_step, torch_step
from nhmech.autodiff.steps import Steps

DT, SYMBOLIC = 1e-2, ["base_link.mass", "left_wheel_joint.radius"]


@pytest.fixture(scope="module")
def robot():
    return shipped("differential_drive").with_parameters(symbolic=SYMBOLIC)


@pytest.fixture(scope="module")
def cases(robot):
    """x (2, 3, nx), u (2, 3, nu), theta (2, 3, ntheta) of robots that roll."""
    rng, f = np.random.default_rng(0), nhmech.dynamics(robot)
    theta = f.theta * rng.uniform(0.9, 1.1, (6, 2))
    theta[:, 1] = f.theta[1]                   # the ground stays where it is
    x = np.array([nhmech.start_states(robot, [(*rng.normal(size=2), rng.uniform(-3, 3))],
                                      xi=rng.normal(size=2))[0] for _ in range(6)])
    return (x.reshape(2, 3, -1), rng.normal(size=(2, 3, 2)), theta.reshape(2, 3, 2))


def wanted(robot, x, u, theta, w):
    """By the Jacobians of `step_jacobian`, case by case."""
    jacobian, ends, found = step_jacobian(robot, DT), [], []
    for case in np.ndindex(x.shape[:-1]):
        end, *blocks = jacobian.with_step(0.0, x[case], u[case], theta[case])
        ends.append(end)
        found.append([w[case] @ block for block in blocks])
    parts = [np.array(part).reshape(*x.shape[:-1], -1) for part in zip(*found)]
    return np.array(ends).reshape(x.shape), parts


def test_steps_and_their_pull_back(robot, cases):
    """Against the forward Jacobian, another way of differentiating, and the simulator."""
    steps, w = Steps(robot, DT), np.random.default_rng(1).normal(size=cases[0].shape)
    end, parts = wanted(robot, *cases, w)
    time = np.zeros(cases[0].shape[:-1])
    assert np.abs(steps.advance(time, *cases) - end).max() <= 1e-14
    for found, part in zip(steps.pull_back(time, *cases, w), parts):
        assert found.shape == part.shape
        np.testing.assert_allclose(found, part, rtol=1e-11, atol=1e-12)


def test_a_step_that_leads_nowhere_is_refused(robot, cases):
    x = cases[0].copy()
    x[1, 0, 5] = np.nan
    with pytest.raises(SimulationError, match="case 3 .*one of 1"):
        Steps(robot, DT).advance(np.zeros((2, 3)), x, *cases[1:])
    with pytest.raises(InputError, match=r"u has shape \(3,\), expected \(\.\.\., 2\)"):
        Steps(robot, DT).check(lambda x: True, np.ones(11), np.ones(3), np.ones(2))
    with pytest.raises(InputError, match="dt"):
        Steps(robot, 0.0)


# -- PyTorch ---------------------------------------------------------------------------------------
def test_gradients_in_torch(robot, cases):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    step, tensors = torch_step(robot, DT), [torch.tensor(part, requires_grad=True)
                                            for part in cases]
    end = step(*tensors)
    w = torch.randn(end.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    (end * w).sum().backward()
    after, parts = wanted(robot, *cases, w.numpy())
    assert np.abs(end.detach().numpy() - after).max() <= 1e-14
    for tensor, part in zip(tensors, parts):
        np.testing.assert_allclose(tensor.grad.numpy(), part, rtol=1e-11, atol=1e-12)
    assert torch.autograd.gradcheck(step, [part[0].detach().requires_grad_() for part in tensors],
                                    eps=1e-6, atol=1e-6, rtol=1e-6)


def test_torch_broadcasts_and_keeps_its_type(robot, cases):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    step = torch_step(robot, DT)
    x, u = torch.tensor(cases[0]).float(), torch.zeros(2, requires_grad=True)
    end = step(x, u)
    assert end.dtype == torch.float32 and end.shape == x.shape
    end.sum().backward()
    assert u.grad.shape == (2,) and torch.isfinite(u.grad).all()
    one = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    end = (step(torch.tensor(cases[0]), one) ** 2).sum()
    (grad,) = torch.autograd.grad(end, one, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_whole_numbers_are_refused_by_torch(robot, cases):
    """The state would be cut to them."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    step, (x, u, _) = torch_step(robot, DT), map(torch.tensor, cases)
    with pytest.raises(InputError, match="x has numbers of type torch.int64"):
        step(x.long(), u)
    with pytest.raises(InputError, match="u has numbers of type torch.int64"):
        step(x, u.long())
    with pytest.raises(InputError, match="u has numbers of type torch.complex128"):
        step(x, u * 1j)


def test_many_steps_in_torch_are_a_run(robot):
    """200 steps are the simulator's, and the gradient of the end by a constant effort is that of
    central differences of runs."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    start, step = nhmech.start_states(robot, [(0, 0, 0.3)])[0], torch_step(robot, DT)

    def end(effort):
        run = nhmech.Simulator(robot, lambda t, state: np.asarray(effort), dt=DT,
                               on_lift="ignore").run(200 * DT, every=200)
        return run.q[-1, 0]

    effort = torch.tensor([0.2, 0.25], dtype=torch.float64, requires_grad=True)
    x = torch.tensor(nhmech.start_states(robot, [(0, 0, 0)])[0])
    for _ in range(200):
        x = step(x, effort)
    x[0].backward()
    assert abs(x[0].item() - end([0.2, 0.25])) <= 1e-11 and start[0] == 0
    h = 1e-4
    for i, unit in enumerate(np.eye(2) * h):
        slope = (end([0.2, 0.25] + unit) - end([0.2, 0.25] - unit)) / (2 * h)
        assert effort.grad[i].item() == pytest.approx(slope, rel=1e-6)


# -- JAX -------------------------------------------------------------------------------------------
def test_gradients_in_jax(robot, cases):
    """Alone, compiled, and mapped over the cases."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    step, w = jax_step(robot, DT), np.random.default_rng(2).normal(size=cases[0].shape)
    after, parts = wanted(robot, *cases, w)

    def weighed(x, u, theta):
        return (step(x, u, theta) * w).sum()

    for gradient in (jax.grad(weighed, (0, 1, 2)), jax.jit(jax.grad(weighed, (0, 1, 2)))):
        for found, part in zip(gradient(*cases), parts):
            np.testing.assert_allclose(found, part, rtol=1e-11, atol=1e-12)
    mapped = jax.vmap(jax.vmap(step))(*cases)
    np.testing.assert_allclose(mapped, after, rtol=0, atol=1e-14)
    one = jax.vmap(jax.grad(lambda x, u: step(x, u)[-1], 1))(cases[0][0], cases[1][0])
    assert one.shape == (3, 2) and np.isfinite(one).all()
    with pytest.raises(InputError, match="x has shape"):
        step(cases[0][..., :4], cases[1])


def test_whole_numbers_are_refused_by_jax(robot, cases):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    step, (x, u, _) = jax_step(robot, DT), map(jax.numpy.asarray, cases)
    with pytest.raises(InputError, match="x has numbers of type int32"):
        step(x.astype("int32"), u)
    with pytest.raises(InputError, match="u has numbers of type int32"):
        jax.jit(step)(x, u.astype("int32"))


def test_many_steps_in_jax_are_those_in_numbers(robot):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    step, f = jax_step(robot, DT), nhmech.dynamics(robot)
    x = start = nhmech.start_states(robot, [(0, 0, 0)])[0]
    u = np.array([0.2, 0.25])

    def end(u):
        return jax.lax.scan(lambda x, _: (step(x, u), None), start, None, length=50)[0][0]

    for _ in range(50):
        x = f.step(0.0, x, u, DT).full().ravel()
    assert abs(float(end(u)) - x[0]) <= 1e-13
    slope = (end(u + [1e-5, 0]) - end(u - [1e-5, 0])) / 2e-5
    assert float(jax.jit(jax.grad(end))(u)[0]) == pytest.approx(float(slope), rel=1e-7)
