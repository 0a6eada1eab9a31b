"""The parts of a loop's C text that evaluate a controller at the beginning of each control
period."""

# The parts are empty in a loop without a controller.
NO_CONTROLLER = {"fields": "", "kept": "", "ask": "", "look": "", "back": "", "keep": ""}
CONTROLLER_PARTS = {
    "fields": "\n  const double* references;\n  long long hold;",
    # the inputs at the latest state at which all watched normal forces were positive
    "kept": "\n  int asked;\n  double sure_u[{nu} + 1];"
            "\n  memcpy(sure_u, s->u, {nu} * sizeof(double));",
    "ask": "\n    asked = (k0 + i) % s->hold == 0;\n    if (asked) nhmech_ask(s, t, x);",
    # forces jump with the inputs
    "look": " || asked",
    "back": "\n        memcpy(s->u, sure_u, {nu} * sizeof(double));",
    "keep": "\n        memcpy(sure_u, s->u, {nu} * sizeof(double));",
}
CONTROLLER = """
static void nhmech_ask(const nhmech_setup* s, double t, const double* x) {{
  NHMECH_MEMORY;
  arg[0] = &t; arg[1] = x; arg[2] = s->references; arg[3] = s->theta;
  res[0] = s->u;
  {name}(arg, res, iw, w, 0);
}}
"""
