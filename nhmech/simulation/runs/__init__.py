"""The record of a run, in memory and in files.

`recorder` collects rows while a run goes on, `trajectory` (`Trajectory`) is a finished run, `batch`
(`Batch`) that of many cases, `history` the interface that both share, `layouts` where names stand
in a row. Files: `archive` (`.npz`), `run_file` (appended to during the run), `run_info` (what all
runs of a simulator share). Quantities along a run: `forces_along` (reactions, tyres, multipliers),
`limit_spans`, `driven_twist`.
"""
