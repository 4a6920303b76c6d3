"use strict";

// The theme: that of the system, until somebody says otherwise.
const themes = ["system", "light", "dark"];
const theme = document.getElementById("theme");

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  theme.textContent = "Theme: " + name;
}

function kept() {
  try { return localStorage.getItem("shardfeed-theme"); } catch { return null; }
}

let current = themes.includes(kept()) ? kept() : "system";
setTheme(current);
theme.hidden = false;
theme.addEventListener("click", () => {
  current = themes[(themes.indexOf(current) + 1) % themes.length];
  setTheme(current);
  try { localStorage.setItem("shardfeed-theme", current); } catch { /* it is forgotten */ }
});

// The grid: those that the filters let pass, some at a time.
const STEP = 60;
const filters = document.getElementById("filters");
const cards = Array.from(document.querySelectorAll("#gallery .card"));
const more = document.getElementById("more");
const reset = document.getElementById("reset");
let most = STEP;

function show() {
  const label = filters.elements.class.value;
  const split = filters.elements.split.value;
  const text = filters.elements.text.value.trim().toLowerCase();
  let found = 0;
  for (const card of cards) {
    const passes = (!label || card.dataset.class.split(" ").includes(label))
      && (!split || card.dataset.split === split)
      && (!text || card.dataset.text.includes(text));
    found += passes;
    card.hidden = !passes || found > most;
  }
  const shown = found > most ? most + " shown of " : "";
  document.getElementById("count").textContent = found < cards.length
    ? shown + (found || "None") + (shown ? " that match" : found === 1 ? " matches" : " match")
    : shown + found;
  reset.hidden = found === cards.length;
  more.hidden = found <= most;
}

function overlay() {
  const box = filters.elements.overlays;
  document.body.classList.toggle("plain", Boolean(box) && !box.checked);
  document.documentElement.style.setProperty("--size", filters.elements.size.value + "px");
}

filters.hidden = false;
filters.addEventListener("submit", (event) => event.preventDefault());
for (const kind of ["input", "change"]) {
  filters.addEventListener(kind, () => { most = STEP; show(); overlay(); });
}
reset.addEventListener("click", () => {
  for (const name of ["class", "split", "text"]) filters.elements[name].value = "";
  most = STEP;
  show();
  filters.elements.text.focus();
});
more.addEventListener("click", () => {
  const first = cards.filter((card) => !card.hidden).length;
  most += STEP;
  show();
  const next = cards.filter((card) => !card.hidden)[first];
  if (next) next.querySelector("button").focus();
});
show();
overlay();

// Keys and names, to be pasted elsewhere.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await copy(button.dataset.copy);
  button.focus();
  button.classList.add("done");
  document.getElementById("said").textContent = "Copied " + (button.dataset.said || button.dataset.copy);
  setTimeout(() => button.classList.remove("done"), 1500);
});
