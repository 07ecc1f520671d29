"use strict";
for (const figure of document.querySelectorAll("figure")) {
  const output = figure.querySelector("output");
  const show = (event) => {
    const place = event.target.closest("[data-t]");
    if (place) output.textContent = place.dataset.t;
  };
  if (figure.querySelector("[data-t]")) output.textContent = "Point at the chart for its numbers.";
  figure.addEventListener("pointermove", show);
  figure.addEventListener("pointerdown", show);
}
