from ..vehicle.reactions import Reactions as Reactions, reactions as reactions
from .axles import Axles as Axles, axles as axles, rotation_centre as rotation_centre
from .curvature import Curvature as Curvature, connection_curvature as connection_curvature
from .derivatives import (
    StepAdjoint as StepAdjoint,
    StepJacobian as StepJacobian,
    step_adjoint as step_adjoint,
    step_jacobian as step_jacobian,
)
from .energy_balance import EnergyBalance as EnergyBalance, energy_balance as energy_balance
from .equilibria import (
    Equilibrium as Equilibrium,
    SteadyMotions as SteadyMotions,
    standing as standing,
)
from .limits import (
    Cause as Cause,
    Limit as Limit,
    Limits as Limits,
    lift_acceleration as lift_acceleration,
    limits as limits,
)
from .linearise import Linearisation as Linearisation, linearise as linearise
from .mobility import Mobility as Mobility, mobility as mobility
from .momentum_balance import (
    MomentumBalance as MomentumBalance,
    momentum_balance as momentum_balance,
)
from .residuals import residuals as residuals
from .rolling_limits import (
    RunValidity as RunValidity,
    friction_limit as friction_limit,
    lift_off as lift_off,
    rolling_events as rolling_events,
    run_validity as run_validity,
)
from .run_summary import run_summary as run_summary
from .sensitivity import eigenvalue_sensitivities as eigenvalue_sensitivities
from .stability import (
    Sweep as Sweep,
    critical_speeds as critical_speeds,
    speed_sweep as speed_sweep,
)
from .structure import Structure as Structure, structure as structure
from .tyre_slip import TyreSlip as TyreSlip, tyre_slip as tyre_slip
from .validity import (
    Validity as Validity,
    Verdict as Verdict,
    WheelLoad as WheelLoad,
    validity as validity,
)
