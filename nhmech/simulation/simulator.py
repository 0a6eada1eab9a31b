"""A vehicle with a controller in the loop: where it is put, stepped, run and recorded."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock

import numpy as np

from ..checks import read_mapping, read_word
from ..ctrl_c import hear_ctrl_c
from ..errors import SimulationError
from ..mechanics.system import HasConstrained
from ..vehicle.friction import with_scrubbing
from ..vehicle.vehicle import Vehicle
from .arguments import check_run, read_period
from .atlas import Atlas
from .bounds import ON_BOUND, ON_FALL, Bounds
from .callbacks import check_callable
from .command import TWIST_NAMES, Controller
from .conservation import check_scheme
from .contact.contact_rows import sliding_wheels
from .contact.coulomb import CONTACTS, ROLL, choose_contact
from .events import Event, read_events
from .feedback import Feedback
from .inputs import Inputs, Wrench, read_twist
from .integration.schemes import SCHEMES
from .moment import Moment
from .propagator import Propagator
from .runs.layouts import RowLayout, state_layout
from .runs.recorder import Recorder
from .runs.run_info import RunInfo
from .runs.trajectory import Trajectory
from .sensors import Sensors
from .settings import describe_settings
from .simulated import Simulated
from .start import Start, begin
from .state import State
from .step_loop import Progress, StepLoop
from .steps_by_hand import StepsByHand

BUSY = ("this Simulator is advancing already, in another thread or in the call that asked its "
        "controller; make one for each thread, they may share the vehicle")
RECORDS = "the record of step() would leave this run out: end_record() ends it first"
AUTO = "auto"       # the integrator that is chosen on the way


class Simulator:
    """Runs a vehicle (or any `ConstrainedSystem`) with a controller in the loop.

    A failure (numbers that are not finite, a wheel lying flat, rank lost, an error inside the
    controller) raises `SimulationError` carrying the trajectory so far.

    Parameters
    ----------
    constrained
        What moves.
    controller
        Callable (t, state) -> Command, asked once per control period. Its `reset()` is called by
        `reset` if it has one, and its attribute `commanded_twist`, if it has one, is recorded
        (`simulation.commanded_twist`).
    dt
        Step [s].
    control_period
        [s], a multiple of dt; dt where None.
    integrator
        "rk4", with steps of dt; "dop853", whose steps follow a tolerance; or "auto", which begins
        with the first and changes to the second where steps of dt are too long. "gauss" (order 6)
        and "gauss4" take implicit steps of dt, after which the energy of a motion without forces
        is right for ever; so do "kahan" (order 2), the cheapest of them, and "discrete_gradient"
        (order 2), which keeps the energy to rounding and is refused where the motion does not.
    events
        Each an `Event`, located in time to 1e-9 s.
    wrench
        Link name -> callable (t, state) -> (6,) force [N] and torque [N m] in W at the link's
        origin.
    mode
        "dynamic", or "kinematic": the controller commands speeds, forces play no part; commands
        that contradict each other, as of redundant wheels, are followed in the least-squares sense.
    on_limit
        What happens where a joint that nothing drives (a hitch, a fork) comes to a limit of its
        position: "stop", the run ends there; "warn", the time is noted in `trajectory.events`;
        "ignore". `step` raises where a run would end, and warns in the log.
    on_fall
        The same where a part of the vehicle comes down to the ground: a collision shape, or the
        box of mass and inertia where there is none; wheels are left out. "go-on", with Coulomb
        friction: it meets the ground there by the same law as wheels do, and lies on it.
    on_lift
        The same where the ground would have to pull a wheel, in whatever way the wheels share the
        load: it leaves the ground there, and the vehicle tips. Wheels that the masses of the file
        do not load, at rest on level ground, are left out with a notice (`bounds.notices`): what
        holds them down is not in the file. A kinematic run knows no forces, and with Coulomb
        friction wheels lift off and land.
    contact
        "ideal", wheels roll without slip; or "coulomb", with friction: while it suffices, the run
        is the ideal one, bit for bit; from the moment at which it does not, or at which a wheel
        would have to be pulled, wheels slide, fly and land (`trajectory.phases`), in steps of
        order two, until all of them roll again. Where None, each wheel follows its own
        `Wheel.law`: those with "coulomb" may slide, those with "rolling" cannot; all may where the
        vehicle was loaded with skid="coulomb". Tyres slip by themselves, and with Coulomb friction
        leave the ground too.
    mu
        Friction coefficient of all, or wheel or link -> coefficient; those of the vehicle where
        None, and of bodies the mean of its wheels that slide. Only with Coulomb friction.
    restitution
        Speed after an impact over the speed before it, from 0 (a wheel that lands stays down) to
        1; of all wheels, or by name. Only with Coulomb friction.
    stiffness
        Wheel -> vertical stiffness [N/m]. More than three rigid wheels do not determine their
        loads: these are shared as by springs of such ratios, in the limit of stiff ones. Where
        None, `Wheel.stiffness` and `<kp>` of the file say it, else all are alike. Only with Coulomb
        friction.

    Examples
    --------
    >>> torque = JointTorque({"left_wheel_joint": 0.2, "right_wheel_joint": 0.3})
    >>> simulator = Simulator(vehicle, lambda t, state: torque, control_period=0.01)
    >>> start = simulator.reset(pose=(1.0, 0.0, 0.5))
    >>> run = simulator.run(0.1)
    >>> float(run.t[-1]), run.stop
    (0.1, 'duration')
    """

    @hear_ctrl_c()
    def __init__(self, constrained: HasConstrained, controller: Controller | None = None, *,
                 dt: float = 1e-3, control_period: float | None = None, integrator: str = "rk4",
                 events: Sequence[Event] = (), wrench: Mapping[str, Wrench] | None = None,
                 mode: str = "dynamic", on_limit: str = "stop", on_fall: str = "stop",
                 on_lift: str = "stop", contact: str | None = None,
                 mu: float | Mapping[str, float] | None = None,
                 restitution: float | Mapping[str, float] = 0.0,
                 stiffness: Mapping[str, float] | None = None):
        check_callable("controller", controller, "(t, state) -> command")
        read_word("integrator", integrator, (*SCHEMES, AUTO))
        scheme = SCHEMES["rk4" if integrator == AUTO else integrator]
        read_word("mode", mode, ("dynamic", "kinematic"))
        step, every = read_period(dt, control_period)
        wrenches = read_mapping("wrench", wrench, "link name -> callable (t, state) -> 6 numbers "
                                "(force, torque) in W")
        self.events = read_events(events)
        read_word("on_fall", on_fall, ON_FALL)
        if contact is not None:
            read_word("contact", contact, CONTACTS)
        if isinstance(constrained, Vehicle) and sliding_wheels(constrained.description, contact):
            constrained = with_scrubbing(constrained)
        self.simulated = Simulated.of(constrained, tuple(wrenches))
        self._notices = [controller.check_drives(self.simulated)
                         if isinstance(controller, Feedback) else None]
        coulomb = choose_contact(self.simulated, contact, mu, restitution, stiffness,
                                 kinematic=mode == "kinematic", bodies=on_fall == "go-on")
        read_word("on_lift", on_lift, ON_BOUND)
        lifts = mode == "kinematic" or coulomb is not None
        _ = self.simulated.equations        # raises first where a joint meets no mass
        self.bounds = Bounds.of(self.simulated, on_limit,
                                "ignore" if on_fall == "go-on" else on_fall,
                                "ignore" if lifts else on_lift,
                                None if coulomb is None else coulomb.watch)
        # what looks at each step, or knows no efforts, asks it like any other
        is_asked_inside = not wrenches and not lifts
        feedback = controller if isinstance(controller, Feedback) and is_asked_inside else None
        self.atlas = Atlas(self.simulated, scheme, mode == "kinematic", self.bounds, feedback)
        self._notices.append(check_scheme(scheme, self.simulated, kinematic=mode == "kinematic",
                                          driven=controller is not None or bool(wrenches)))
        sensors = Sensors(self.simulated, self.atlas.charts, coulomb)
        layout = state_layout(self.simulated, self.atlas.primary, sensors)
        self._beside: dict[str, tuple[str, ...]] = {}
        if read_twist(controller) is not None:
            self._beside["commanded_twist"] = TWIST_NAMES
        if coulomb is not None:
            self._beside["contact"] = coulomb.columns.columns
        self.moment = Moment(layout, *(len(self._beside.get(name, ()))
                                       for name in ("commanded_twist", "contact")))
        self.propagator = Propagator(self.simulated, self.atlas, self.moment, step,
                                     SCHEMES["dop853"] if integrator == AUTO else None, coulomb,
                                     every)
        self.inputs = Inputs(self.propagator, controller, wrenches, every)
        self._by_hand = StepsByHand(self.propagator, self.bounds)
        self._loop = StepLoop(self.propagator, self.inputs, self.events, self.bounds)
        self._is_started = False
        self._turn = Lock()       # of the thread that advances it

    def __repr__(self) -> str:
        controller = "no controller" if self.controller is None else self.inputs.name
        return (f"<Simulator of {self.simulated.name} at t = {self.t:.6g} s: dt {self.dt:g} s, "
                f"{self.atlas.primary.scheme.name}, {controller}>")

    # -- reading -----------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """Time [s]."""
        return self.moment.t

    @property
    def dt(self) -> float:
        """Step [s]."""
        return self.propagator.dt

    @property
    def controller(self) -> Controller | None:
        return self.inputs.controller

    @property
    def state(self) -> State:
        """The present moment, a copy."""
        if not self._is_started:
            self.reset()
        return self.moment.state

    @cached_property
    def info(self) -> RunInfo:
        """What is the same for all its runs."""
        primary = self.atlas.primary
        settings = describe_settings(self.controller, self.dt, self.dt * self.inputs.every,
                                     AUTO if self.propagator.spare else primary.scheme.name)
        coulomb = self.propagator.coulomb
        if coulomb is not None:
            settings |= {"contact": "coulomb", **coulomb.settings}
        return RunInfo(self.simulated, RowLayout.of(primary, self._beside),
                       primary.kinematic, settings,
                       tuple(event.name for event in self.events)
                       + tuple(bound.name for bound in self.bounds.found)
                       + (() if coulomb is None else (ROLL,)))

    # -- starting ----------------------------------------------------------------------------------
    @hear_ctrl_c()
    def reset(self, pose: object = None, joints: Mapping[str, float] | None = None,
              xi: Mapping[str, float] | Sequence[float] | None = None, *,
              q: np.ndarray | None = None, v: Mapping[str, float] | None = None,
              drop: float | None = None) -> State:
        """Puts the vehicle on the ground at rest, or with the given speeds; or into the air.

        Parameters
        ----------
        pose, joints
            As in `Vehicle.configuration`.
        xi
            Independent speeds, or any fibre coordinates by name that determine them; unnamed ones
            are as small as they can be, after tyres slip as little as they can. Where wheels scrub
            by friction, a bend is a start that slides.
        q
            The whole configuration instead of pose and joints.
        v
            Instead of xi, any fibre coordinates by name, the others zero: with Coulomb friction.
        drop
            Height of the lowest point above the ground [m], from which the vehicle falls: with
            Coulomb friction, a start in the air, in the attitude of the pose.

        Raises
        ------
        InputError
            For speeds that do not exist or contradict each other.
        ModelError
            For a pose that cannot be placed.
        SimulationError
            Within a run or a step, and while steps are recorded.
        """
        if self._by_hand.recorder is not None:
            raise SimulationError("the record would go back in time: end_record() ends it first")
        if not self._turn.acquire(False):
            raise SimulationError(BUSY)
        try:
            self._by_hand.is_first = True
            begin(self.propagator, Start(pose, joints, xi, q, v, drop))
            self._is_started = True
            state = self.state
            self.inputs.reset(state)
            return state
        finally:
            self._turn.release()

    # -- stepping ----------------------------------------------------------------------------------
    def step(self) -> State:
        """Asks the controller where its period begins, advances by dt, and returns the new
        state. Events are for `run`.

        Raises
        ------
        SimulationError
            For a failure, and where a run would end: at a limit or a fall.
        """
        if not self._is_started:
            self.reset()
        if not self._turn.acquire(False):
            raise SimulationError(BUSY)
        try:
            self.inputs.ask()
            by_hand = self._by_hand
            if by_hand.recorder is not None:
                self.inputs.note_twist()
                by_hand.recorder.note(self.moment.k)
            if by_hand.is_first or not self.propagator.step_in_c():
                by_hand.step()
            return self.moment.state
        finally:
            self._turn.release()

    def record(self, *, every: int = 1, save: str | os.PathLike | None = None) -> None:
        """Has `step` record from the present state on, until `end_record`.

        Parameters
        ----------
        every, save
            As those of `run`; steps are counted from the start.

        Raises
        ------
        InputError
            For arguments that it cannot take.
        SimulationError
            Where it records already, and where the file cannot be made.
        """
        check_run(1.0, self.propagator.dt, every, None, save)
        if self._by_hand.recorder is not None:
            raise SimulationError("this Simulator records already; end_record() ends that")
        if not self._is_started:
            self.reset()
        self._by_hand.recorder = self._open_record(1, every, save)

    def end_record(self, stop: str = "ended") -> Trajectory:
        """What was recorded since `record`, and is saved where that said so.

        Parameters
        ----------
        stop
            Why it ends; `trajectory.stop` says so.

        Raises
        ------
        SimulationError
            Where nothing was recorded, and where the file cannot be written, with the record.
        """
        return self._by_hand.end_record(stop)

    def _open_record(self, rows: int, every: int, save: str | os.PathLike | None) -> Recorder:
        recorder = Recorder(self.moment, self.info, rows, every, save)
        recorder.notices += [*self.bounds.notices, *filter(None, self._notices)]
        return recorder

    def compile(self, places: Sequence[np.ndarray] = (), *, wait: bool = True) -> None:
        """Has made now what steps need, for loops in real time: equations in the speeds that
        determine the motion all over a vehicle's range, what follows the named commands that were
        given so far, and code. Otherwise a run forms equations where it needs them, and goes on in
        CasADi's virtual machine until the compiler, in the background, is done.

        Parameters
        ----------
        places
            Further configurations (nq,); of a system written by hand only the samples are known.
        wait
            Whether to wait for the compiler; else it begins, and this returns.
        """
        if not self._is_started:
            self.reset()
        self.atlas.cover_range()
        self.atlas.cover(places)
        self.propagator.compile(wait)

    def run(self, duration: float, *, every: int = 1, progress: Progress | None = None,
            save: str | os.PathLike | None = None) -> Trajectory:
        """Runs for `duration` [s] and returns what happened.

        The end of the duration, a terminal event and Ctrl-C return with `trajectory.stop` saying
        which. A second Ctrl-C within two seconds raises `KeyboardInterrupt`, out of a program that
        makes one run after another; that run is saved too.

        Parameters
        ----------
        every
            Records each so many steps (the first and the last state always).
        progress
            Called now and then with (t, state).
        save
            Path of the run file (`.npz`); until the end its rows are in `save.part`, which a kill
            leaves readable.

        Raises
        ------
        InputError
            For arguments that it cannot take.
        SimulationError
            For a failure, with what was computed in `.trajectory`; and between `record` and
            `end_record`.
        """
        check_run(duration, self.propagator.dt, every, progress, save)
        if not self._is_started:
            self.reset()
        is_recorded = self._by_hand.recorder is not None
        if is_recorded or not self._turn.acquire(False):
            raise SimulationError(RECORDS if is_recorded else BUSY)
        try:
            steps = math.ceil(duration / self.propagator.dt - 1e-9)
            recorder = self._open_record(steps // every + 3, every, save)
            self._by_hand.is_first = False
            return self._loop.run(duration, steps, recorder, progress)
        finally:
            self._turn.release()
