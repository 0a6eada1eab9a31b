from .action_algebroid import action_algebroid as action_algebroid
from .algebroid import (
    LieAlgebroid as LieAlgebroid,
    circle as circle,
    euclidean as euclidean,
    line as line,
    product as product,
    rotation as rotation,
    special_euclidean as special_euclidean,
)
from .algebroid_makers import (
    atiyah as atiyah,
    lie_algebra as lie_algebra,
    special_euclidean_2 as special_euclidean_2,
    special_orthogonal as special_orthogonal,
)
from .brackets import Growth as Growth, growth_vector as growth_vector
from .casimirs import Casimir as Casimir, casimirs as casimirs
from .chetaev import chetaev as chetaev
from .closed_form_multipliers import closed_form_multipliers as closed_form_multipliers
from .connection import (
    EhresmannConnection as EhresmannConnection,
    ehresmann_connection as ehresmann_connection,
)
from .constrained_hamiltonian import (
    ConstrainedHamiltonian as ConstrainedHamiltonian,
    PhaseSpaceMotion as PhaseSpaceMotion,
)
from .constraint_algorithm import (
    ConstraintAlgorithm as ConstraintAlgorithm,
    constraint_algorithm as constraint_algorithm,
)
from .distribution import Distribution as Distribution
from .energy_momentum import EnergyMomentum as EnergyMomentum, energy_momentum as energy_momentum
from .equations import Equations as Equations
from .first_integrals import FirstIntegral as FirstIntegral, first_integrals as first_integrals
from .forms import ConstraintForms as ConstraintForms, constraint_forms as constraint_forms
from .frame import AdaptedFrame as AdaptedFrame, adapted_frame as adapted_frame
from .generalised_speeds import generalised_speeds as generalised_speeds
from .gibbs_appell import gibbs_appell as gibbs_appell
from .hamel import hamel as hamel
from .hamilton_jacobi import HamiltonJacobi as HamiltonJacobi, hamilton_jacobi as hamilton_jacobi
from .hamiltonisation import Hamiltonisation as Hamiltonisation, hamiltonise as hamiltonise
from .herglotz import herglotz as herglotz
from .invariant_measure import (
    InvariantMeasure as InvariantMeasure,
    invariant_measure as invariant_measure,
)
from .lagrange_dalembert import lagrange_dalembert as lagrange_dalembert
from .lagrange_multipliers import lagrange_multipliers as lagrange_multipliers
from .momentum import (
    MomentumMap as MomentumMap,
    NonholonomicMomentum as NonholonomicMomentum,
    momentum_map as momentum_map,
    nonholonomic_momentum as nonholonomic_momentum,
)
from .momentum_side import momentum_side as momentum_side
from .morphism import Morphism as Morphism
from .moving_frame import MovingFrame as MovingFrame
from .nonholonomic_bracket import (
    NonholonomicBracket as NonholonomicBracket,
    nonholonomic_bracket as nonholonomic_bracket,
)
from .nonholonomic_connection import (
    NonholonomicConnection as NonholonomicConnection,
    nonholonomic_connection as nonholonomic_connection,
)
from .projection import projection as projection
from .prolongation import Prolongation as Prolongation, prolongation as prolongation
from .quasi_velocities import change_of_basis as change_of_basis
from .quotient import Quotient as Quotient, quotient as quotient
from .reconstruction import (
    FullMotion as FullMotion,
    ReducedMotion as ReducedMotion,
    reconstruct as reconstruct,
    run_reduced as run_reduced,
)
from .reduction import (
    Reduction as Reduction,
    at_momentum as at_momentum,
    chaplygin as chaplygin,
)
from .regularity import Regularity as Regularity, regularity as regularity
from .symmetry import Symmetry as Symmetry, symmetry as symmetry
from .symmetry_search import find_symmetry as find_symmetry
from .symplectic_reduction import (
    ReducedForm as ReducedForm,
    bates_sniatycki as bates_sniatycki,
    on_level as on_level,
)
from .system import ConstrainedSystem as ConstrainedSystem, LagrangianSystem as LagrangianSystem
from .vakonomic import vakonomic as vakonomic
from .writing import constrain as constrain, lagrangian_system as lagrangian_system
