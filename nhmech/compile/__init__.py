"""How CasADi functions are evaluated: in CasADi's virtual machine through buffers,
or as compiled C with the loop inside."""
