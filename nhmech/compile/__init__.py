"""CasADi functions as compiled code, or in CasADi's virtual machine if there is no compiler.

One function
    `compiled_function` writes the C, decides between C and the virtual machine, and loads the
    library. `pointwise` evaluates a function at many points, and compiles it when that pays.
    `javascript` writes a function for a browser.
The compilers
    `compiler` finds and runs the system's C compiler, `nvrtc` NVIDIA's. `background` compiles in a
    thread, `cache` keeps compiled libraries between runs.
The step loop in C
    `loop` is the C loop around one step, and the `Loop` that Python calls. Parts of its C text are
    in `loop_bounds` (limits, lift-off) and `loop_error` (the estimated error of some steps).
    `adaptive` is DOP853 in C, with a loop of its own. `repeated` turns iterations into C loops,
    `pieces` cuts long functions so that they compile fast. `status` lists how a step or a run can
    end.
Steps in which wheels slide or fly
    `contact_step` compiles one implicit step. Its C text: `contact_rows_code` (contact rows, linear
    algebra), `contact_problem_code` (the contact solver: Signorini's condition and Coulomb
    friction), `contact_step_code` (the iterations around both). `sliding_loop` is the loop around
    it.
Many cases at once
    `lanes` is the loop in C++ on SIMD vectors, `lane_type` the number type that it computes with,
    `mapped_lanes` the same loop without a compiler. `lane_function` evaluates any function on such
    lanes. `gpu` and `cuda_kernel` are the loop on an NVIDIA GPU.
"""
