"""Advances the present moment of a run step by step, in compiled code where there is any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from time import perf_counter

import numpy as np

from ..compile.loop import Loop
from ..compile.status import Status
from ..errors import NhmechError, SimulationError
from ..once import cached_property
from ..vehicle.stiffness import describe_stiffness
from .atlas import Atlas, Place
from .compiled_steps import CompiledSteps, RowSink
from .contact.coulomb import CoulombContact, is_sliding
from .contact.nonsmooth import loop_of_sliding
from .diagnosis import explain_failure, explain_fall
from .integration.integrators import FLAT, Step
from .integration.schemes import Scheme
from .moment import Moment
from .pacing import LOOK, Pace
from .simulated import Simulated
from .step_error import TOLERANCE, StepGauge, Trial, retake

DONE = int(Status.DONE)     # looking up a member of an enum takes 0.1 us, as long as a short step

Bookmark = tuple[np.ndarray, int, float]     # block of the moment, number of the chart, side


class Propagator:
    """Takes the steps of one system with constant inputs, in C if there is compiled code, in a
    chart that is regular.

    A step that C refuses is taken again in Python, which changes the chart or says why it fails.

    Attributes
    ----------
    moment
        The moment that it advances.
    atlas
        The charts.
    dt
        Step [s].
    gauge
        Estimated error of the steps.
    hold
        Number of steps in a control period.
    spare
        A scheme to change to if the steps are too long for the first one; None if there is none.
    coulomb
        Takes the steps in which wheels slide, fly or land; None if they only roll.
    slides
        Whether wheels may slide or fly at present, so that full velocities are integrated. (It is a
        plain attribute because it is read at each step.)
    """

    def __init__(self, simulated: Simulated, atlas: Atlas, moment: Moment, dt: float, *,
                 spare: Scheme | None = None, coulomb: CoulombContact | None = None,
                 hold: int = 1):
        self.simulated = simulated
        self.coulomb = coulomb
        self.slides = False
        self.atlas = atlas
        self.moment = moment
        self.dt = dt
        self.gauge = StepGauge(moment, atlas.primary.scheme.order)
        self.spare = spare
        self._first = atlas.primary.scheme
        self._tried = 0.0       # the worst error whose persistence was tested
        feedback = atlas.primary.feedback
        self._feedback = np.zeros(0) if feedback is None else feedback.references, hold
        self._pace = Pace()
        self._compiled: CompiledSteps | None = None

    def __repr__(self) -> str:
        return (f"<Propagator of {self.simulated.name} at t = {self.moment.t:.6g} s, "
                f"dt = {self.dt:g} s>")

    # -- start -------------------------------------------------------------------------------------
    def start(self, q: np.ndarray) -> None:
        """Starts at rest at q, t = 0. Raises `NhmechError` if the constraints lose rank there."""
        self.moment.clear()
        self.gauge.clear()
        self._use(self._first)
        self._tried = 0.0
        if self.coulomb is not None:
            self.coulomb.end(self.moment)
        self._find_slides()
        self.moment.q[...] = q
        before = self.atlas.chart
        self.atlas.start(self.moment)
        if self.atlas.chart is not before:
            self._forget_code()
        elif self._compiled is not None:
            self._compiled.setup.side = self.atlas.side

    def choose_scheme(self, steps: int) -> None:
        """Changes to the spare scheme if so many steps of the first would lead too far."""
        if self.atlas.primary.scheme is self.spare or self.spare is None or self.slides:
            return
        if self.gauge.values[2] == 0:                # no error is known before the first step
            before = self.bookmark()
            self.advance(self.dt)
            self.restore(before)
        gauge = self.gauge
        if gauge.is_suspect(steps) and gauge.values[4] > self._tried:
            self._tried = float(gauge.values[4])
            trial = Trial(gauge, self.atlas, self.moment, self.simulated.theta)
            if not trial.persistence(self.dt) * gauge.values[1] * steps <= TOLERANCE:
                self._use(self.spare)

    def _use(self, scheme: Scheme) -> None:
        if self.atlas.primary.scheme is not scheme:
            self.gauge.rest(self.moment.k)
            self.atlas.use(scheme)
            self._forget_code()

    def settle(self) -> None:
        """Projects x, which has been changed, onto the constraints at the present time, and updates
        q, v and health."""
        moment = self.moment
        x, q, v, health = self.atlas.chart.project(moment.t, moment.x, self.simulated.theta)
        moment.take(x, q, v, health, moment.clock)

    def bookmark(self) -> Bookmark:
        """A copy of this moment for `restore`."""
        atlas = self.atlas
        return self.moment.block.copy(), atlas.charts.index(atlas.chart), atlas.side

    def restore(self, bookmark: Bookmark) -> None:
        """Goes back to a moment."""
        self.moment.block[...], place, self.atlas.side = bookmark
        self._find_slides()
        chart = self.atlas.charts[place]
        if chart is not self.atlas.chart:
            self.atlas.chart = chart
            self._forget_code()

    # -- wheels that slide -------------------------------------------------------------------------
    def slip(self) -> None:
        """Lets wheels slide, fly and land from here on."""
        assert self.coulomb is not None, "only Coulomb's law lets wheels slide"
        self.gauge.rest(self.moment.k)
        self._pace = Pace()                 # steps take longer than those before
        try:
            self.coulomb.begin(self.moment)
        finally:
            self._find_slides()
        self._write_speeds()

    def roll(self) -> bool:
        """Returns to the equations of rolling if all wheels have rolled for some steps and friction
        suffices with a margin. Returns whether it did."""
        if (self.coulomb is None or not self.slides or self._is_too_stiff
                or not self.coulomb.may_roll(self.moment)):
            return False
        self.coulomb.end(self.moment)
        self._find_slides()
        self.gauge.rest(self.moment.k)
        self.atlas.resume(self.moment)
        self._forget_code()
        self.settle()
        return True

    def efforts(self, u: Sequence[float], rows: Sequence[int], columns: Sequence[int],
                wanted: Sequence[float]) -> np.ndarray | None:
        """Efforts that give joints the wanted accelerations if wheels slide, or must slide for
        them; None if they roll. See `CoulombContact.efforts`."""
        coulomb, moment = self.coulomb, self.moment
        # no more joints than independent speeds: their commands cannot contradict each other
        if coulomb is None or not (self.slides or len(rows) > len(self.atlas.chart.speeds)):
            return None
        inputs = moment.u.copy()
        inputs[:self.simulated.nu] = u
        return coulomb.efforts(moment, inputs, rows, columns, wanted, self.dt)

    @cached_property
    def _is_too_stiff(self) -> bool:
        """Whether the scheme of rolling is unstable because of joint damping, such as brakes: then
        the implicit steps of sliding wheels are used."""
        vehicle, scheme = self.simulated.vehicle, self._first
        return (vehicle is not None and isfinite(scheme.real_limit) and describe_stiffness(
            vehicle, self.dt, None, scheme.name, scheme.real_limit) is not None)

    def _find_slides(self) -> None:
        slides = is_sliding(self.moment)
        if slides is not self.slides:
            self.slides = slides
            self._forget_code()

    def _write_speeds(self) -> None:
        chart = self.atlas.chart
        self.moment.x[chart.state_vector.nconf:] = self.moment.v[chart.speeds]

    # -- steps in C --------------------------------------------------------------------------------
    def step_in_c(self) -> bool:
        """Takes one step of dt in C. Returns False if there is no code, or if it refuses the
        step."""
        compiled = self._compiled or self._find_code()
        return compiled is not None and compiled.one(compiled.pointer) == DONE

    def loop(self) -> Loop | None:
        """The compiled loop for sliding wheels, or for rolling in the present chart; None until it
        is compiled."""
        return self._sliding_loop if self.slides else self.atlas.chart.loop(build=False)

    @cached_property
    def _sliding_loop(self) -> Loop | None:
        assert self.coulomb is not None, "only Coulomb's law lets wheels slide"
        atlas, nonsmooth = self.atlas, self.coulomb.nonsmooth
        speeds = self.moment.x.size - nonsmooth.terms.nconf
        return loop_of_sliding(nonsmooth, atlas.primary.bounds.margins, speeds,
                               not self._is_too_stiff)

    @property
    def runs_feedback(self) -> bool:
        """Whether compiled code evaluates the controller itself."""
        return self.atlas.chart.runs_feedback and not self.slides

    def advance_many(self, loop: Loop, held: int, recorder: RowSink, k: int) -> tuple[int, bool]:
        """Takes steps in C after the first `k` of a run: at most the `held` ones with constant
        inputs, and few enough to respond to Ctrl-C. Returns the number of steps taken, and whether
        C refuses the next one, which `step` must take."""
        steps, every = min(held, self._pace.steps), recorder.every
        compiled = self.prepare(loop)
        setup = compiled.setup
        setup.done, status, begun = 0, DONE, perf_counter()
        # C may return before a step is complete, to let Ctrl-C through
        while setup.done == 0 and status == DONE:
            record = recorder.room((steps - 1 + k % every) // every + 1)
            setup.rows, setup.limit = 0, self.moment.k + held
            try:
                status = compiled.run(steps, every, k % every, record)
            finally:
                # an interrupt is raised when C returns, with its rows written
                recorder.extend(setup.rows)
        self._pace.learn(perf_counter() - begun)
        return setup.done, status != DONE

    def take_turns(self, loop: Loop, most: int, update: Callable[[], object], recorder: RowSink,
                   k: int) -> tuple[int, bool]:
        """Takes at most so many steps in C with a call of `update` between any two, and fewer if
        `update` is slow. Returns as `advance_many` does."""
        until = perf_counter() + LOOK
        compiled, every, done = self.prepare(loop), recorder.every, 0
        setup, turn, pointer = compiled.setup, compiled.loop.turn, compiled.pointer
        setup.record = recorder.room((most - 1 + k % every) // every + 1)
        setup.rows, setup.every, setup.phase = 0, every, k % every
        try:
            while turn(pointer) == DONE:
                done += 1
                if done == most or perf_counter() > until:
                    return done, False
                update()
            return done, True
        finally:
            # also after an interrupt, or an error in the controller
            recorder.extend(setup.rows)

    def prepare(self, loop: Loop) -> CompiledSteps:
        """The compiled loop on the memory of the present moment."""
        if self._compiled is None or self._compiled.loop is not loop:
            constants = self.dt, self.atlas.side
            angles = self.atlas.primary.state_vector.angle_slots()
            if self.slides:
                angles += tuple(self.atlas.chart.speeds)
            bounds, (references, hold) = self.atlas.primary.bounds, self._feedback
            self._compiled = CompiledSteps(
                loop, self.moment, constants, theta=self.simulated.theta, signs=bounds.signs,
                split=bounds.split, gauge=self.gauge.values, angles=angles, references=references,
                hold=hold)
        return self._compiled

    def _find_code(self) -> CompiledSteps | None:
        loop = self.loop()
        return None if loop is None else self.prepare(loop)

    def compile(self, wait: bool) -> None:
        """Compiles the loops of all charts, now or in the background."""
        self.atlas.compile(wait)
        self._find_code()

    def _forget_code(self) -> None:
        self._compiled = None

    # -- steps in Python ---------------------------------------------------------------------------
    def advance(self, dt: float) -> None:
        """One step of any length [s]; changes the chart if the present one becomes nearly singular.
        Raises `SimulationError` if the step cannot be taken, with the reason."""
        self._find_slides()
        if self.slides:
            self._slide(dt)
            return
        step = self._try(dt)
        if step.status is Status.SINGULAR:
            self._change_chart((step.t, step.q))
            step = self._try(dt)
        self.moment.take(step.x, step.q, step.v, step.health, self._clock_after(dt))

    def _clock_after(self, dt: float) -> tuple[float, int, float]:
        """t, k and t0 after a step of any length."""
        moment = self.moment
        k, t, t0 = moment.k + 1, moment.t + dt, moment.t0
        if dt == self.dt:
            return t0 + k * dt, k, t0
        return t, k, t - k * self.dt

    def _slide(self, dt: float) -> None:
        """One step of any length [s] with wheels that may slide or fly."""
        assert self.coulomb is not None, "only Coulomb's law lets wheels slide"
        moment = self.moment
        x, q, v, contact = self.coulomb.advance(moment, dt)
        speeds = v[self.atlas.chart.speeds]
        moment.take(np.concatenate([x, speeds]), q, v, moment.health.copy(),
                    self._clock_after(dt), contact)

    def _change_chart(self, end: Place) -> None:
        try:
            self.atlas.change(self.moment, end)
        except NhmechError as error:
            # the constraints lose rank where a wheel lies down
            if self.moment.guard < FLAT:
                raise SimulationError(explain_fall(self.simulated, self.moment)) from error
            raise
        self._forget_code()

    def _try(self, dt: float) -> Step:
        """The result of a step, DONE or SINGULAR. Raises `SimulationError` if it fails."""
        moment, atlas = self.moment, self.atlas
        inputs = (moment.t, moment.x, moment.u, self.simulated.theta, dt, atlas.side, moment.guard)
        step, chart = atlas.chart.advance(*inputs), atlas.chart
        fixed = chart.scheme.method is not None and dt == self.dt
        if fixed and step.status is Status.DONE and not self.gauge.judge(
                moment, step.x, chart.state_vector.nconf, lambda: retake(chart, *inputs).x):
            if self.spare is not None:
                self._use(self.spare)
                return self._try(dt)
            step = Step(*step[:4], Status.COARSE, step.t)
        if step.status not in (Status.DONE, Status.SINGULAR):
            raise SimulationError(explain_failure(self.simulated, atlas, moment, dt, step))
        return step
