"""CasADi functions as compiled code, or in CasADi's virtual machine where there is no compiler.

The step loop in C
    `loop` holds the C loop around one step, and the `Loop` that Python calls. Its C text comes in
    parts: `loop_bounds` (limits, lift-off), `loop_error` (the estimated error of some steps),
    `loop_controller` (a controller inside the loop). `repeated` turns iterations into C loops,
    `pieces` cuts long functions so that they compile fast. `adaptive` is DOP853 in C, with a loop
    of its own. `status` lists how a step or a run may end.
Steps in which wheels slide or fly
    `contact_step` compiles one implicit step. Its C text: `contact_rows_code` (contact rows, linear
    algebra), `contact_problem_code` (the contact solver: Signorini's condition and Coulomb
    friction), `contact_step_code` (the iterations around both). `sliding_loop` is the loop around
    it.
Many cases at once
    `lanes` is the loop in C++ on SIMD vectors, `lane_type` the number type it computes with,
    `mapped_lanes` the same without a compiler; `lane_function` evaluates any function on such
    lanes. `gpu` and `cuda_kernel` are the loop on an NVIDIA GPU.
Single functions
    `compiled_function` compiles one function, `pointwise` evaluates one at many points and compiles
    it when that pays, `javascript` writes one for a browser.
Compilers
    `compiler` finds and runs the system's C compiler, `nvrtc` NVIDIA's, `background` compiles in a
    thread, `cache` keeps compiled libraries between runs, `workspace` sizes the memory that
    CasADi's C needs.
"""
