"""Makes the small pictures of examples/README.md by running the examples in full.

    python docs/example_pictures.py [NAME ...]        these, or all
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
EXAMPLES, PICTURES = HERE.parent / "examples", HERE / "images" / "examples"
WIDTH = 800

PICTURES.mkdir(parents=True, exist_ok=True)
for name in sys.argv[1:] or sorted(script.stem for script in EXAMPLES.glob("*.py")):
    with tempfile.TemporaryDirectory() as out:
        print(f"== {name}", flush=True)
        subprocess.run([sys.executable, EXAMPLES / f"{name}.py", out], check=True)
        image = Image.open(Path(out) / f"{name}.png").convert("RGB")
        image = image.resize((WIDTH, round(WIDTH * image.height / image.width)),
                             Image.Resampling.LANCZOS)
        image = image.quantize(255, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        image.save(PICTURES / f"{name}.png", optimize=True)
