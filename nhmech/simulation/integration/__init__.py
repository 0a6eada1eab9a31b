"""How a step is made: schemes and their C."""
