"""What the text of a loop has where it asks a controller itself, at the beginning of each control
period."""

# Empty words leave the code of a loop without a controller as it is.
ASKED = {"fields": "", "kept": "", "ask": "", "look": "", "back": "", "keep": ""}
ASKING = {
    "fields": "\n  const double* references;\n  long long hold;",
    # the inputs of the latest state at which the ground was seen to press
    "kept": "\n  int asked;\n  double sure_u[{nu} + 1];"
            "\n  memcpy(sure_u, s->u, {nu} * sizeof(double));",
    "ask": "\n    asked = (k0 + i) % s->hold == 0;\n    if (asked) nhmech_ask(s, t, x);",
    # forces jump with the inputs
    "look": " || asked",
    "back": "\n        memcpy(s->u, sure_u, {nu} * sizeof(double));",
    "keep": "\n        memcpy(sure_u, s->u, {nu} * sizeof(double));",
}
ASK = """
static void nhmech_ask(const nhmech_setup* s, double t, const double* x) {{
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  arg[0] = &t; arg[1] = x; arg[2] = s->references; arg[3] = s->theta;
  res[0] = s->u;
  {name}(arg, res, iw, w, 0);
}}
"""
