"""SymPy's KanesMethod, its equations made into a Python function with common subexpressions,
and RK4 on lists around it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from common.motions import GRAVITY
from common.timing import Spent


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, Spent]:
    rate, state = _rate(motion), motion.start.tolist()
    half, sixth = dt / 2, dt / 6
    with Spent() as took:
        for _ in range(round(duration / dt)):
            k1 = rate(*state)
            k2 = rate(*[s + half * k for s, k in zip(state, k1)])
            k3 = rate(*[s + half * k for s, k in zip(state, k2)])
            k4 = rate(*[s + dt * k for s, k in zip(state, k3)])
            state = [s + sixth * (a + 2 * (b + c) + d)
                     for s, a, b, c, d in zip(state, k1, k2, k3, k4)]
    return motion.place(np.array(state)), took


TORQUES = sm.symbols("torque_left torque_right")


@cache
def _rate(motion):
    """As a function of numbers; the equations are simplified once for all torques, which takes a
    while."""
    symbols, written = _written(replace(motion, name="",
                                        torques=TORQUES) if hasattr(motion, "torques") else motion)
    values = dict(zip(TORQUES, getattr(motion, "torques", ())))
    return sm.lambdify(symbols, [expression.subs(values) for expression in written], modules="math",
                       cse=True)


@cache
def _written(motion):
    state, q_rates, kane = {"differential_drive": _drive, "disc": _disc}[motion.robot](motion)
    rates = q_rates | dict(zip(kane.u, kane.mass_matrix.LUsolve(kane.forcing)))
    symbols = sm.symbols(f"s:{len(state)}")
    return symbols, [sm.simplify(rates[name].subs(dict(zip(state, symbols)))) for name in state]


def _drive(motion):
    x, y, yaw, left, right, V, W = everything = me.dynamicsymbols("x y yaw left right V W")
    q, u, t = everything[:5], everything[5:], me.dynamicsymbols._t
    N = me.ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (yaw, N.z))
    B.set_ang_vel(N, W * B.z)
    O = me.Point("O")
    P = O.locatenew("P", x * N.x + y * N.y)
    O.set_vel(N, 0)
    P.set_vel(N, V * B.x)
    chassis = P.locatenew("G", motion.ahead * B.x)
    chassis.v2pt_theory(P, N, B)
    bodies, loads = [me.RigidBody("chassis", chassis, B, motion.mass,
                                  (me.inertia(B, *motion.inertia), chassis))], []
    rates = {}
    for name, angle, side, torque in zip(("left", "right"), (left, right), (1, -1), motion.torques):
        centre = P.locatenew(name, side * motion.half_track * B.y)
        centre.v2pt_theory(P, N, B)
        rates[angle] = (V - side * motion.half_track * W) / motion.radius
        frame = me.ReferenceFrame(name)
        frame.orient_axis(B, angle, B.y)
        frame.set_ang_vel(B, rates[angle] * B.y)
        diameter = motion.wheel_inertia
        bodies.append(me.RigidBody(name, centre, frame, motion.wheel_mass,
                                   (me.inertia(B, diameter, motion.spin_inertia, diameter),
                                    centre)))
        loads += [(frame, torque * B.y), (B, -torque * B.y)]
    rates |= {x: V * sm.cos(yaw), y: V * sm.sin(yaw), yaw: W}
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[angle.diff(t) - rates[angle] for angle in q])
    kane.kanes_equations(bodies, loads)
    return [x, y, yaw, V, W, left, right], rates, kane


def _disc(motion):
    x, y, yaw, lean, spin, u1, u2, u3 = everything = me.dynamicsymbols("x y yaw lean spin u1 u2 u3")
    q, u, t, r = everything[:5], everything[5:], me.dynamicsymbols._t, motion.radius
    N = me.ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", (yaw, N.z))
    L = Y.orientnew("L", "Axis", (lean, Y.x))
    R = L.orientnew("R", "Axis", (spin, L.y))
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    L.set_ang_vel(N, u1 * L.x + u3 * sm.tan(lean) * L.y + u3 * L.z)
    contact = me.Point("contact")
    contact.set_vel(N, 0)
    centre = contact.locatenew("centre", r * L.z)
    centre.v2pt_theory(contact, N, R)
    centre.set_acc(N, centre.vel(N).dt(L) + L.ang_vel_in(N).cross(centre.vel(N)))
    body = me.RigidBody("disc", centre, R, motion.mass,
                        (me.inertia(L, motion.across, motion.along, motion.across), centre))
    rolling = u2 - u3 * sm.tan(lean)
    rates = {x: r * rolling * sm.cos(yaw), y: r * rolling * sm.sin(yaw), yaw: u3 / sm.cos(lean),
             lean: u1, spin: rolling}
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[angle.diff(t) - rates[angle] for angle in q])
    kane.kanes_equations([body], [(centre, -motion.mass * GRAVITY * N.z)])
    return everything, rates, kane
