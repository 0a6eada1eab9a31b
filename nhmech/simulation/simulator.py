"""A vehicle with a controller in the loop: where it is put, stepped, run and recorded."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from ..checks import read_count, read_mapping, read_word
from ..ctrl_c import hear_ctrl_c
from ..errors import SimulationError
from ..mechanics.system import HasConstrained
from ..once import cached_property
from ..vehicle.friction import with_scrubbing
from ..vehicle.posing import Pose
from ..vehicle.vehicle import Vehicle
from .arguments import check_run, check_save, read_period
from .atlas import Atlas
from .bounds import ON_BOUND, ON_FALL, Bounds
from .callbacks import check_callable
from .command import TWIST_NAMES, Controller
from .contact.contact_rows import sliding_wheels
from .contact.coulomb import CONTACTS, ROLL, choose_contact
from .events import Event, read_events
from .feedback import Feedback
from .inputs import Inputs, Wrench, read_twist
from .integration.conservation import check_scheme
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
from .step_loop import Progress, StepLoop, StepsByHand

BUSY = ("this Simulator is already advancing, in another thread or in a call from its own "
        "controller; use one Simulator per thread (they may share the vehicle)")
RECORDS = "the record of step() would miss this run: call end_record() first"
AUTO = "auto"       # the integrator that is chosen on the way


class Simulator:
    """Runs a vehicle (or any `ConstrainedSystem`) with a controller in the loop.

    A failure (numbers that are not finite, a wheel lying flat, rank lost, an error inside the
    controller) raises `SimulationError` that carries the trajectory up to then.

    Parameters
    ----------
    constrained
        The vehicle or constrained system to simulate.
    controller
        Callable (t, state) -> Command, called once per control period. Its `reset()` is called by
        `reset` if it has one, and its attribute `commanded_twist`, if it has one, is recorded
        (`simulation.commanded_twist`).
    dt
        Step [s].
    control_period
        [s], a multiple of dt; dt if None. It is counted in steps: the last step of a run may be
        shorter, and the next run then has its commands earlier by as much.
    integrator
        "rk4" takes fixed steps of dt; "dop853" adapts its steps to a tolerance; "auto" starts with
        "rk4" and changes to "dop853" where steps of dt are too long. "gauss" (order 6), "gauss4"
        and "kahan" (order 2, the cheapest) take implicit steps of dt whose energy does not drift in
        a motion without forces. "discrete_gradient" (order 2) conserves the energy to rounding, and
        is refused for a motion that does not conserve it.
    events
        A sequence of `Event`; each is located in time to 1e-9 s.
    wrench
        Link name -> callable (t, state) -> (6,) force [N], torque [N m] in W at the link's origin.
    mode
        "dynamic", or "kinematic", in which the controller commands speeds and forces play no part;
        commands that contradict each other are followed in the least-squares sense.
    on_limit
        What happens when an undriven joint (a hitch, a fork) reaches a position limit: "stop" ends
        the run there, "warn" records the time in `trajectory.events`, "ignore" does nothing. `step`
        raises an error where a run would end, and logs a warning. Driven joints come to rest there
        if velocity or position is commanded; what efforts do is recorded in `trajectory.limits`.
    on_fall
        The same when a part of the vehicle other than a wheel touches the ground. Its collision
        shape counts, or the box of equal mass and inertia if it has none. "go-on" needs Coulomb
        friction: the part then makes contact by the same law as the wheels.
    on_lift
        The same when a wheel would have to be pulled by the ground, however the wheels share the
        load: there it lifts off, and the vehicle tips. Wheels that carry no load at rest on level
        ground are not watched, and a notice reports it (`bounds.notices`). No effect in a kinematic
        run, which computes no forces, nor with Coulomb friction, where wheels lift off and land.
    contact
        "ideal": wheels roll without slip. "coulomb": as long as friction suffices the run equals
        the ideal one bit for bit; when it no longer does, or a wheel would have to be pulled,
        wheels slide, lift off and land (`trajectory.phases`), in steps of order two, until all of
        them roll again. None: each wheel follows its own `Wheel.law`; wheels with "coulomb" may
        slide and those with "rolling" may not, and all may slide if the vehicle was loaded with
        skid="coulomb". Tyres slip in either case; with Coulomb friction they can also leave the
        ground.
    mu
        Friction coefficient of all contacts, or a mapping from wheel or link to coefficient. None
        takes those of the vehicle, and for other bodies the mean over the wheels that may slide.
        Only with Coulomb friction.
    restitution
        Coefficient of restitution, from 0 (a wheel that lands stays down) to 1, for all wheels or
        by name. Only with Coulomb friction.
    stiffness
        Wheel -> vertical stiffness [N/m]. The loads of more than three rigid wheels are
        undetermined; they are shared as by stiff springs with these ratios. None takes
        `Wheel.stiffness` and `<kp>` of the file, or else equal values. Only with Coulomb friction.

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
        # a run that checks each step, or has no efforts, calls it like any other controller
        is_inside = not wrenches and not lifts
        feedback = controller if isinstance(controller, Feedback) and is_inside else None
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
                                     spare=SCHEMES["dop853"] if integrator == AUTO else None,
                                     coulomb=coulomb, hold=every)
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
        """The information that all its runs share."""
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
    def reset(self, pose: Pose | None = None, joints: Mapping[str, float] | None = None,
              xi: Mapping[str, float] | Sequence[float] | None = None, *,
              q: np.ndarray | None = None, v: Mapping[str, float] | None = None,
              drop: float | None = None) -> State:
        """Places the vehicle on the ground, at rest or with the given speeds, or above it.

        Parameters
        ----------
        pose, joints
            As in `Vehicle.configuration`.
        xi
            Independent speeds, or any fibre coordinates by name that determine them; unnamed ones
            are made as small as possible, once tyres slip as little as possible. A vehicle whose
            wheels scrub starts a bend sliding.
        q
            The whole configuration instead of pose and joints; with v, wheels may be in the air.
        v
            Instead of xi, any fibre coordinates by name, the others being zero. Needs Coulomb
            friction.
        drop
            Height of the lowest point above the ground [m] from which the vehicle falls, in the
            attitude of the pose. Needs Coulomb friction.

        Raises
        ------
        InputError
            For speeds that do not exist or contradict each other.
        ModelError
            For a pose that cannot be placed.
        SimulationError
            If called within a run or a step, or while steps are recorded.
        """
        if self._by_hand.recorder is not None:
            raise SimulationError("the record would go back in time: call end_record() first")
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
        """Advances by dt and returns the new state; calls the controller at the beginning of a
        control period. Events are not looked for: they belong to `run`.

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
            self.inputs.update()
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
        """Makes `step` record from the present state on, until `end_record`.

        Parameters
        ----------
        every, save
            As those of `run`; steps are counted from the start.

        Raises
        ------
        InputError
            For arguments that it cannot take.
        SimulationError
            If it is already recording, and if the file cannot be made.
        """
        read_count("every", every)
        if save is not None:
            check_save(save)
        if self._by_hand.recorder is not None:
            raise SimulationError("this Simulator is already recording; call end_record() first")
        if not self._is_started:
            self.reset()
        self._by_hand.recorder = self._open_record(1, every, save)

    def end_record(self, stop: str = "ended") -> Trajectory:
        """Returns what was recorded since `record`, and saves it if `record` was given a file.

        Parameters
        ----------
        stop
            Reason why it ends, for `trajectory.stop`.

        Raises
        ------
        SimulationError
            If nothing was recorded, and if the file cannot be written; the error has the record.
        """
        return self._by_hand.end_record(stop)

    def _open_record(self, rows: int, every: int, save: str | os.PathLike | None) -> Recorder:
        recorder = Recorder(self.moment, self.info, rows, every, save)
        recorder.notices += [*self.bounds.notices, *filter(None, self._notices)]
        return recorder

    def compile(self, places: Sequence[np.ndarray] = (), *, wait: bool = True) -> None:
        """Prepares everything that steps need, for loops in real time: equations in speeds that
        determine the motion over the vehicle's whole range, the functions that carry out the kinds
        of named commands given so far, and compiled code. Without it a run forms equations when it
        needs them, and uses CasADi's virtual machine until the compiler has finished in the
        background.

        Parameters
        ----------
        places
            Further configurations (nq,); of a system written by hand only the samples are known.
        wait
            Whether to wait until the compiler has finished.
        """
        if not self._is_started:
            self.reset()
        self.atlas.cover_range()
        self.atlas.cover(places)
        self.propagator.compile(wait)

    def run(self, duration: float, *, every: int = 1, progress: Progress | None = None,
            save: str | os.PathLike | None = None) -> Trajectory:
        """Runs for `duration` [s] and returns the trajectory.

        The end of the duration, a terminal event and Ctrl-C return with `trajectory.stop` saying
        which. A second Ctrl-C within two seconds raises `KeyboardInterrupt`, out of a program that
        makes one run after another; that run is saved too.

        Parameters
        ----------
        every
            Records the state every so many steps, and always the first and the last one.
        progress
            Called now and then with (t, state).
        save
            Path of the run file (`.npz`). While the run goes on its rows are appended to
            `save.part`, which stays readable if the process is killed.

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
