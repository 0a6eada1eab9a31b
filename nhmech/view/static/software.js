// What the live page does in a browser that draws without a graphics card, where every pixel costs:
// as good a picture, by cheaper means.
//
// There, edges are not smoothed while the picture moves (that alone nearly halves the time of a
// frame), the shadows are coarse, the sky is the page's own, and the floor has a shader that does
// only what a floor needs. Where frames are still slow, fewer pixels are drawn, and shadows not in
// every frame. As soon as nothing moves, the picture is drawn once more, with fine shadows and four
// pixels for each of the window's, which smooths all edges.
const software = (() => {
  const THREE = MeshCat.THREE;
  // of pixels along the picture to those of the window, pixels along a shadow's map, and how many
  // frames go by with one map
  const LEVELS = [[1, 512, 1], [0.8, 512, 1], [0.65, 512, 2], [0.5, 256, 3]]
    .map(([ratio, shadows, each]) => ({ ratio, shadows, each }));
  // [ms] without a change until it rests, at least and at most; judged at a time
  const STILL = 200, LONGEST = 3000, SPAN = 400;
  const IDLE = 3;  // ticks without a change until it rests
  const SLOW = 32, GOOD = 50, PIXELS = 8e6;  // ticks a second; the most pixels of a picture at rest
  // three.js's Lambert material, reduced to what a flat floor needs: light is found at the corners
  const FLOOR = `
    #include <common>
    #include <packing>
    uniform sampler2D map;
    uniform vec3 diffuse;
    varying vec2 vUv;
    varying vec4 vColor;
    varying vec3 vLightFront, vIndirectFront;
    #if NUM_DIR_LIGHT_SHADOWS > 0
      uniform sampler2D directionalShadowMap[NUM_DIR_LIGHT_SHADOWS];
      varying vec4 vDirectionalShadowCoord[NUM_DIR_LIGHT_SHADOWS];
    #endif
    void main() {
      float lit = 1.0;
      #if NUM_DIR_LIGHT_SHADOWS > 0
        vec3 at = vDirectionalShadowCoord[0].xyz;  // the sun is far away: no division
        if (max(abs(at.x - 0.5), abs(at.y - 0.5)) < 0.5)
          lit = step(at.z - 0.0005, unpackRGBAToDepth(texture2D(directionalShadowMap[0], at.xy)));
      #endif
      vec3 light = vIndirectFront + lit * vLightFront;
      gl_FragColor = vec4(diffuse * texture2D(map, vUv).rgb * RECIPROCAL_PI * light, vColor.a);
    }`;

  function found() {
    const gl = document.createElement("canvas").getContext("webgl");
    const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
    if (!info) return false;
    const name = gl.getParameter(info.UNMASKED_RENDERER_WEBGL);
    return /swiftshader|llvmpipe|software/i.test(name);
  }
  function renderer(pane) {
    const made = new THREE.WebGLRenderer({ antialias: false, alpha: true });
    made.shadowMap.enabled = true;
    made.shadowMap.autoUpdate = false;
    made.shadowMap.type = THREE.BasicShadowMap;
    pane.appendChild(made.domElement);
    return made;
  }
  function lean(material) {
    const map = material.map;
    map.anisotropy = 1;
    map.minFilter = THREE.LinearMipmapNearestFilter;
    map.needsUpdate = true;
    material.side = THREE.FrontSide;
    material.onBeforeCompile = shader => {
      if (/vLightFront/.test(shader.vertexShader)) shader.fragmentShader = FLOOR;
    };
    material.customProgramCacheKey = () => "floor";
    material.needsUpdate = true;
  }
  function paintSky(viewer, pane) {
    const { top_color: top, bottom_color: bottom } = viewer.scene_tree.find(["Background"]).object;
    const sky = `rgb(${top.join()}) 25%, rgb(${bottom.join()}) 75%`;  // components of 0 to 255
    pane.style.background = `linear-gradient(${sky})`;
    viewer.scene.background = null;
  }
  // Whether there is a light whose map is still to be drawn in this size.
  function shade(lights, size) {
    let isNew = false;
    for (const { castShadow, shadow } of lights) {
      if (!castShadow) continue;
      if (shadow.mapSize.x !== size) {
        // a body shades itself within a pixel of the map
        shadow.normalBias *= shadow.mapSize.x / size;
        shadow.mapSize.set(size, size);
        if (shadow.map) shadow.map.dispose();
        shadow.map = null;
      }
      isNew = isNew || !shadow.map;
    }
    return isNew;
  }

  // fewer pixels while it moves, more when it rests
  function adapt(viewer, lights) {
    const draw = viewer.render.bind(viewer);
    let level = 0, calm = 0, patience = 4, sharp = false, rest = STILL;
    let latest = performance.now(), since = latest, frames = 0, ticks = 0, idle = 0, drawn = 0;
    function drawAt(ratio, shadows, each = 1) {
      const isNew = shade(lights(), shadows);
      viewer.renderer.shadowMap.needsUpdate = isNew || drawn % each === 0;
      if (viewer.renderer.getPixelRatio() !== ratio) viewer.renderer.setPixelRatio(ratio);
      draw();
      drawn += 1;
    }
    function begin(now) { since = now; frames = ticks = 0; }
    function judge(rate) {  // ticks a second: more than it is told to draw, where it keeps up
      calm = rate > GOOD ? calm + 1 : 0;
      if (rate < SLOW && frames > 0.5 * ticks && level < LEVELS.length - 1) {
        level = Math.min(level + (rate < 0.6 * SLOW ? 2 : 1), LEVELS.length - 1);
        patience *= 2;
      } else if (calm > patience && level > 0) {
        level -= 1;
        calm = 0;
      }
    }
    viewer.render = () => {
      const now = performance.now();
      if (sharp) {
        // one that goes on soon did not rest: a picture at rest takes as long as many that move
        rest = now - latest < 5 * rest ? Math.min(2 * rest, LONGEST) : STILL;
        begin(now);
      }
      latest = now;
      frames += 1;
      idle = 0;
      sharp = false;
      const { ratio, shadows, each } = LEVELS[level];
      drawAt(ratio * window.devicePixelRatio, shadows, each);
    };
    return now => {
      ticks += 1;
      idle += 1;
      // where a frame takes long, the time alone does not say that nothing moves
      if (!sharp && idle > IDLE && !viewer.needs_render && now - latest > rest) {
        const shown = viewer.renderer.domElement;
        const finest = Math.sqrt(PIXELS / (shown.clientWidth * shown.clientHeight));
        sharp = true;
        drawAt(Math.max(1, Math.min(2, finest)) * window.devicePixelRatio, 2048);
      } else if (!sharp && now - since > SPAN) {
        judge(1000 * ticks / (now - since));
        begin(now);
      }
    };
  }
  return { found, renderer, lean, paintSky, adapt };
})();
