// The page of `bindless view`: it asks for pictures of a view, shows them, and changes the view.
"use strict";

const $ = id => document.getElementById(id);
const canvas = $("picture"), context = canvas.getContext("2d");
const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), n => n.toString(16)).join("");
const TARGET = 110;        // milliseconds from one picture to the next while the view moves
const STILL = 180;         // milliseconds without a change until the view is still

let info = null, view = null;
let isDirty = false, isBusy = false, lastChange = 0, isLost = false, isComplete = false, hasAll = false;
let share = 0.5, quality = 70;           // of the pixels, and of JPEG, while the view moves
let shownError = 0, lastBlob = null, pointer = null;
let still = null;                        // ends the request of a picture of a view that was still

// ---------------------------------------------------------------- requests

async function post(name, content, signal) {
  const response = await fetch(name, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({page, ...content}), signal,
  });
  if (!response.ok) {
    let text = `${response.status} ${response.statusText}`;
    try { text = (await response.json()).error || text; } catch { /* no JSON */ }
    throw Object.assign(new Error(text), {status: response.status});
  }
  return response;
}

function tell(text) {
  $("message").hidden = !text;
  $("message").firstElementChild.textContent = text;
}

// ---------------------------------------------------------------- pictures

function size() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  return [Math.max(1, Math.round(canvas.clientWidth * ratio)), Math.max(1, Math.round(canvas.clientHeight * ratio))];
}

function change(parts) {
  Object.assign(view, parts);
  lastChange = performance.now();
  isDirty = true;
  isComplete = hasAll = false;
  showScale();
  showControls();
  if (still) still.abort();
  ask();
}

async function ask() {
  if (isBusy || !info || document.hidden) return;
  const isMoving = performance.now() - lastChange < STILL;
  if (!isDirty && isComplete) return;
  isBusy = true;
  isDirty = false;
  const [width, height] = size();
  const part = isMoving || !hasAll ? share : 1;   // all pixels when no brick is missing
  const begin = performance.now();
  const request = new AbortController();
  let pause = 0;
  if (!isMoving) still = request;
  try {
    const response = await post("frame", {
      view, width: Math.max(1, Math.round(width * part)), height: Math.max(1, Math.round(height * part)),
      quality: part < 1 ? quality : 93, is_moving: isMoving, share: part,
    }, request.signal);
    const status = JSON.parse(response.headers.get("X-Bindless"));
    lastBlob = await response.blob();
    const bitmap = await createImageBitmap(lastBlob);
    [canvas.width, canvas.height] = [width, height];
    context.imageSmoothingEnabled = part < 1 || view.mode !== "slice";
    context.drawImage(bitmap, 0, 0, width, height);
    bitmap.close();
    isComplete = status.is_complete && part === 1;
    hasAll = isMoving ? hasAll : status.is_complete;
    const took = performance.now() - begin;
    if (isMoving) {
      share = Math.min(1, Math.max(0.2, share * Math.min(1.3, Math.max(0.6, Math.sqrt(TARGET / took)))));
      quality = Math.round(Math.min(85, Math.max(40, quality + (took > 1.5 * TARGET ? -8 : 4))));
    }
    showStatus(status, took);
    if (isLost) { isLost = false; tell(""); }
    if (status.errors > shownError) { shownError = status.errors; tell(status.error); }
    canvas.dataset.drawn = String(Number(canvas.dataset.drawn || 0) + 1);
    canvas.dataset.complete = String(isComplete);
    showValue();
  } catch (error) {
    if (!request.signal.aborted) {
      tell(error.status ? error.message : "The server does not answer: it ended, or was interrupted.");
      isLost = true;
      isDirty = error.status === undefined;
      isComplete = !isDirty;
      pause = 2000;
    }
  } finally {
    isBusy = false;
    still = null;
  }
  if (isDirty || !isComplete) {
    if (pause) setTimeout(ask, pause);
    else if (isDirty || !isMoving) setTimeout(ask, 0);
    else setTimeout(ask, STILL + 10);   // the full picture, unless the view moves on
  }
}

function showStatus(status, took) {
  const words = [`level ${status.level} of ${info.levels}`];
  if (status.is_full) words.push("memory is full");
  if (status.missing) words.push(`${status.missing} bricks to come`);
  words.push(`${Math.round(took)} ms`);
  $("status").textContent = words.join(" · ");
  $("status").title = `${info.device}: drawing ${status.milliseconds} ms, JPEG ${status.encoding} ms`;
}

// ---------------------------------------------------------------- space

const multiply = ([a, b, c, d], [e, f, g, h]) => [
  a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
  a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];

function turn(axis, angle) {
  const half = angle / 2, turned = [Math.cos(half), 0, 0, 0];
  turned[1 + axis] = Math.sin(half);
  const q = multiply(view.rotation, turned), length = Math.hypot(...q);
  return q.map(part => part / length);
}

function axes() {   // right, down and ahead in the world
  const [w, x, y, z] = view.rotation;
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]];
}

const pixel = () => view.extent / canvas.clientHeight;

function moved(dx, dy, dz = 0) {   // the centre, by distances of the world along the picture's axes
  const [right, down, ahead] = axes();
  return view.centre.map((part, i) => part + dx * right[i] + dy * down[i] + dz * ahead[i]);
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const extent = Math.min(1e12, Math.max(1e-12, view.extent * factor)), share = pixel() * (1 - extent / view.extent);
  const centre = moved((x - canvas.clientWidth / 2) * share, (y - canvas.clientHeight / 2) * share);
  change({extent, centre});
}

const isSlice = () => !info.is_volume || view.mode === "slice";

function drag(dx, dy, isOther) {
  if (!info.is_volume || isSlice() !== isOther) change({centre: moved(-dx * pixel(), -dy * pixel())});
  else {
    view.rotation = turn(1, dx * 0.008);
    change({rotation: turn(0, -dy * 0.008)});
  }
}

function step(count) {
  if (info.is_volume) change({centre: moved(0, 0, count * Math.min(...info.spacing))});
}

// Along x, y or z, with z or y upwards in the picture.
const LOOKS = {z: [1, 0, 0, 0], y: [Math.SQRT1_2, -Math.SQRT1_2, 0, 0], x: [0.5, -0.5, 0.5, -0.5]};

// ---------------------------------------------------------------- pointers and keys

const pointers = new Map();
canvas.addEventListener("pointerdown", event => {
  canvas.focus();
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
canvas.addEventListener("pointermove", event => {
  pointer = [event.clientX, event.clientY];
  const before = pointers.get(event.pointerId);
  if (!before || !view) { showValue(); return; }
  const now = [event.clientX, event.clientY];
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const far = (a, b) => Math.max(10, Math.hypot(a[0] - b[0], a[1] - b[1]));
    change({centre: moved(-(now[0] - before[0]) * pixel() / 2, -(now[1] - before[1]) * pixel() / 2)});
    zoom(far(before, other) / far(now, other), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  } else {
    drag(now[0] - before[0], now[1] - before[1], event.shiftKey || (event.buttons & 2) !== 0);
  }
  pointers.set(event.pointerId, now);
});
for (const name of ["pointerup", "pointercancel"])
  canvas.addEventListener(name, event => pointers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => { pointer = null; $("value").textContent = ""; });
canvas.addEventListener("contextmenu", event => event.preventDefault());
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const amount = (event.deltaY || event.deltaX) * (event.deltaMode ? 30 : 1);
  if (event.shiftKey && isSlice()) step(Math.sign(amount));
  else zoom(Math.exp(Math.max(-120, Math.min(120, amount)) * 0.0015), event.clientX, event.clientY);
}, {passive: false});

const KEYS = {
  "1": () => change({mode: "slice"}), "2": () => change({mode: "max"}), "3": () => change({mode: "mean"}),
  "4": () => change({mode: "volume"}), "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25),
  ArrowLeft: () => drag(40, 0, false), ArrowRight: () => drag(-40, 0, false), ArrowUp: () => drag(0, 40, false),
  ArrowDown: () => drag(0, -40, false), PageUp: () => step(-1), PageDown: () => step(1),
  x: () => change({rotation: LOOKS.x}), y: () => change({rotation: LOOKS.y}), z: () => change({rotation: LOOKS.z}),
  l: () => change({is_lit: !view.is_lit}), r: () => reset(), c: () => copyLink(), s: () => savePicture(),
  "?": () => $("keys").showModal(),
};
document.addEventListener("keydown", event => {
  if (!view || event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT/.test(event.target.tagName)) return;
  const act = KEYS[event.key];
  if (!act || (!info.is_volume && /^([1-4xyzl]|Page)/.test(event.key))) return;
  event.preventDefault();
  act();
});

// ---------------------------------------------------------------- what stands around the picture

const UNITS = {nanometer: "nm", micrometer: "µm", millimeter: "mm", centimeter: "cm", meter: "m", angstrom: "Å"};

function length(number) {
  return `${Number(number.toPrecision(6))} ${UNITS[info.unit] || info.unit || (info.is_volume ? "voxels" : "pixels")}`;
}

function showScale() {
  const most = 160 * pixel(), power = 10 ** Math.floor(Math.log10(most));
  const nice = [5, 2, 1].map(n => n * power).find(n => n <= most) || power;
  $("scale").firstElementChild.textContent = length(nice);
  $("scale").lastElementChild.style.width = `${nice / pixel()}px`;
}

let valueWaits = false;
async function showValue() {
  if (valueWaits || !pointer || !info || pointers.size) return;
  valueWaits = true;
  const [x, y] = pointer;
  try {
    const answer = await (await post("value", {x: x / canvas.clientWidth, y: y / canvas.clientHeight})).json();
    if (!pointer) return;
    const number = n => typeof n === "number" ? String(Number(n.toPrecision(6))) : n;
    const digits = Math.max(0, Math.ceil(-Math.log10(Math.min(...info.spacing))) + 1);
    $("value").textContent = answer.point
      ? `(${answer.point.slice(0, info.is_volume ? 3 : 2).map(n => n.toFixed(digits)).join(", ")}) = ${answer.numbers.map(number).join(", ")}`
      : "";
  } catch { /* the next picture tells */ }
  setTimeout(() => { valueWaits = false; if (pointer && (pointer[0] !== x || pointer[1] !== y)) showValue(); }, 80);
}

function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function slider(text, low, high, value, act) {
  const input = element("input", {type: "range", min: low, max: high, step: (high - low) / 1000 || 1, value});
  input.setAttribute("aria-label", text);
  input.addEventListener("input", () => act(Number(input.value)));
  return [element("label", {}, [element("span", {textContent: text}), input]), input];
}

const updates = [];   // of controls from the view
function makeControls() {
  for (const mode of info.modes) {
    const button = element("button", {textContent: mode});
    button.addEventListener("click", () => change({mode}));
    updates.push(() => button.setAttribute("aria-pressed", String(view.mode === mode)));
    if (info.modes.length > 1) $("modes").append(button);
  }
  for (const button of $("axes").children) button.addEventListener("click", () => change({rotation: LOOKS[button.dataset.axis]}));
  $("axes").hidden = !info.is_volume;
  for (let channel = 0; channel < info.channels; channel++) {
    const box = element("fieldset", {}, info.channels > 1 ? [element("legend", {textContent: `channel ${channel}`})] : []);
    const [least, greatest] = info.limits[channel];
    for (const end of [0, 1]) {
      const [label, input] = slider(["dark", "bright"][end], least, greatest, view.windows[channel][end], value => {
        view.windows = view.windows.map((window, i) => i === channel ? window.map((old, j) => j === end ? value : old) : window);
        change({});
      });
      updates.push(() => { if (document.activeElement !== input) input.value = view.windows[channel][end]; });
      box.append(label);
    }
    const set = value => change({colours: view.colours.map((old, i) => i === channel ? value : old)});
    const select = element("select", {}, [
      ...Object.keys(info.maps).map(name => element("option", {textContent: name, value: name})),
      element("option", {textContent: "colour", value: "#"}), element("option", {textContent: "hidden", value: ""})]);
    select.setAttribute("aria-label", "colours");
    const colour = element("input", {type: "color"});
    colour.setAttribute("aria-label", "colour");
    select.addEventListener("change", () => set(select.value === "#" ? "#ffffff" : select.value));
    colour.addEventListener("input", () => set(colour.value));
    updates.push(() => {
      const value = view.colours[channel];
      select.value = value.startsWith("#") ? "#" : value;
      colour.hidden = !value.startsWith("#");
      if (value.startsWith("#")) colour.value = value;
    });
    box.append(element("label", {}, [element("span", {textContent: "colours"}), element("span", {}, [select, colour])]));
    $("controls").append(box);
  }
  if (info.is_volume) {
    const [label, input] = slider("opacity", 0, 1, view.opacity, opacity => change({opacity}));
    const lit = element("input", {type: "checkbox"});
    lit.addEventListener("change", () => change({is_lit: lit.checked}));
    const box = element("fieldset", {}, [label, element("label", {}, [element("span", {textContent: "light"}), lit])]);
    updates.push(() => { box.hidden = view.mode !== "volume"; lit.checked = view.is_lit; if (document.activeElement !== input) input.value = view.opacity; });
    $("controls").append(box);
  }
  $("reset").addEventListener("click", reset);
  $("link").addEventListener("click", copyLink);
  $("save").addEventListener("click", savePicture);
  $("help").addEventListener("click", () => $("keys").showModal());
  $("message").lastElementChild.addEventListener("click", () => tell(""));
}

let linkWaits = 0;
function showControls() {
  for (const update of updates) update();
  clearTimeout(linkWaits);
  linkWaits = setTimeout(() => history.replaceState(null, "", "#" + encodeURIComponent(JSON.stringify(view))), 300);
}

function reset() { change(structuredClone(info.first)); }

async function copyLink() {
  const address = location.href.split("#")[0] + "#" + encodeURIComponent(JSON.stringify(view));
  history.replaceState(null, "", address);
  try { await navigator.clipboard.writeText(address); $("link").textContent = "copied"; }
  catch { prompt("The link of this view:", address); }
  setTimeout(() => { $("link").textContent = "link"; }, 1200);
}

function savePicture() {
  canvas.toBlob(blob => {
    const link = element("a", {href: URL.createObjectURL(blob), download: `${info.name}.png`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

// ---------------------------------------------------------------- the visit

function restore() {   // the view of the address
  try {
    const parts = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}");
    for (const name of Object.keys(parts)) if (!(name in info.first)) delete parts[name];
    return {...structuredClone(info.first), ...parts};
  } catch { return structuredClone(info.first); }
}

window.addEventListener("hashchange", () => { if (info) change(restore()); });
window.addEventListener("resize", () => { if (info) change({}); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
window.addEventListener("pagehide", () => navigator.sendBeacon("leave", JSON.stringify({page})));
window.addEventListener("pageshow", event => { if (event.persisted && info) change({}); });
setInterval(() => { if (info && !document.hidden) post("ping", {}).catch(() => {}); }, 10000);

(async () => {
  try {
    info = await (await fetch("info")).json();
  } catch {
    tell("The server does not answer.");
    return;
  }
  document.title = `${info.name} – bindless view`;
  $("name").textContent = info.name;
  $("name").title = `${info.sizes.join(" × ")} ${info.dtype}`;
  view = restore();
  makeControls();
  change({});
  canvas.focus();
})();
