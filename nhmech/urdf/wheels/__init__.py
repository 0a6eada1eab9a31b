"""How wheels are found in a description, and what each joint is for.

Which joints and links are wheels
    `listed_wheels` (wheels that the caller lists) or `inference` (wheels that are found), from
    `evidence`: the independent sources, and the one rule that decides. `unrolled` and `casters`:
    wheels without a joint of their own, and balls. `stance`: which wheels touch level ground.
Shape and kind of a wheel
    `rims` (round shapes about an axis), `revolution` (round meshes), `radii`, `heights`,
    `wheel_inertia`; `kinds` and `rollers` (tyre or rollers), `tyres` (given tyre parameters).
What joints do
    `roles` (rolling, steering, free, locked, driven), `swivels` (joints above wheels), `skid` (skid
    steering), `axle_lines`, `opposed`.
Messages
    `refusals` (errors), `bearing` and `axis_hints` (notices).
"""
