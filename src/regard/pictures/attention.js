"use strict";
(() => {
  const COLOURS = "__COLOURS__".match(/.{6}/g).map(hex => "#" + hex);
  const INKS = "__INKS__".match(/.{6}/g).map(hex => "#" + hex); // black or white, whichever is easier to read

  const make = (tag, parent, properties = {}) => {
    const element = Object.assign(document.createElement(tag), properties);
    parent.append(element);
    return element;
  };
  const alone = word => `\u2068${word}\u2069`; // keeps words of either direction in their place
  const top = (words, values, count = 3) => values.map((value, index) => [value, index]).filter(([value]) => value > 0)
    .sort((a, b) => b[0] - a[0]).slice(0, count).map(([value, index]) => `${alone(words[index])} ${value} %`).join(", ") || "nothing";

  const pen = document.createElement("canvas").getContext("2d"); // measures words also where nothing is laid out yet
  const widths = words => words.map(word => Math.min(16, pen.measureText(word).width / 100 + .3)); // in em
  const EM = .6; // of a cell: letters grow and shrink with the cells

  // Says how many cells wide and high the whole diagram is; the style sheet finds the cell that fits a window or a page.
  function measure(figure, table, source, target) {
    pen.font = `100px ${getComputedStyle(figure).fontFamily}`;
    const leaning = widths(source).map(width => width * EM * Math.SQRT1_2);
    const past = Math.max(0, ...leaning.map((width, index) => width - (source.length - index - .5)));
    const sizes = {columns: source.length, rows: target.length, up: Math.max(...leaning), past,
      across: source.length + EM * Math.max(...widths(target)) + past, down: target.length + Math.max(...leaning)};
    Object.entries(sizes).forEach(([name, value]) => table.style.setProperty(`--${name}`, value));
  }

  // Draws a diagram into an empty figure; `largest` is the side of the largest cell in pixels.
  function build(figure, {source, target, gold, title, maps, isMirrored}, largest = 38) {
    [source, target] = [source, target].map(words => words.map(word => word.trim() ? word : "␣"));
    const isGold = new Set(gold.map(([column, row]) => `${row},${column}`));
    let weights = maps[0].rows;
    if (title) make("figcaption", figure, {textContent: title, dir: "auto"});
    const frame = make("div", figure, {className: "frame"});
    const table = make("table", frame, {dir: isMirrored ? "rtl" : "ltr"});
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", `attention of each output word (row) to each source word (column). ${title}`);

    const grid = [];
    const head = make("tr", make("thead", table));
    make("td", head).style.background = "none";
    grid.push([null, ...source.map(word => {
      const header = make("th", head, {className: "column", scope: "col", tabIndex: -1});
      make("span", header, {textContent: word, dir: "auto"});
      return header;
    })]);
    const body = make("tbody", table);
    target.forEach((word, row) => {
      const line = make("tr", body);
      const header = make("th", line, {className: "row", scope: "row", tabIndex: -1});
      make("bdi", header, {textContent: word});
      grid.push([header, ...source.map((_, column) => make("td", line, {tabIndex: -1, className: isGold.has(`${row},${column}`) ? "gold" : ""}))]);
    });
    figure.style.setProperty("--most", `${largest}px`);
    measure(figure, table, source, target);
    const output = make("output", figure);
    output.setAttribute("aria-live", "polite");

    const paint = () => target.forEach((word, row) => source.forEach((other, column) => {
      const value = weights[row][column], place = grid[row + 1][column + 1];
      place.style.background = COLOURS[value];
      place.style.color = INKS[value];
      place.textContent = value || "";
      place.setAttribute("aria-label", `${word}, ${other}: ${value} percent`);
    }));

    const find = element => {
      const place = element.closest("td, th");
      const row = grid.findIndex(line => line.includes(place));
      return place && row >= 0 ? [row, grid[row].indexOf(place)] : null;
    };
    const light = spot => {
      const [row, column] = spot ?? [0, 0];
      table.classList.toggle("busy", Boolean(spot));
      grid.forEach((line, r) => line.forEach((place, c) =>
        place?.classList.toggle("on", Boolean(spot) && (row > 0 && r === row || column > 0 && c === column))));
      output.textContent = !spot ? "" : row && column
        ? `${alone(target[row - 1])} ← ${alone(source[column - 1])}: ${weights[row - 1][column - 1]} %`
        : row ? `${alone(target[row - 1])} looks at ${top(source, weights[row - 1])}`
        : `${alone(source[column - 1])} is looked at by ${top(target, weights.map(line => line[column - 1]))}`;
    };
    let home = grid[1][0];
    home.tabIndex = 0;
    table.addEventListener("pointerover", event => light(find(event.target)));
    table.addEventListener("pointerleave", () => light(table.contains(document.activeElement) ? find(document.activeElement) : null));
    table.addEventListener("focusin", event => {
      home.tabIndex = -1;
      home = event.target.closest("td, th");
      home.tabIndex = 0;
      light(find(home));
    });
    table.addEventListener("focusout", () => light(null));
    table.addEventListener("keydown", event => {
      const ahead = isMirrored ? -1 : 1;
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -ahead], ArrowRight: [0, ahead]}[event.key];
      const spot = find(document.activeElement);
      if (!step || !spot) return;
      event.preventDefault();
      grid[spot[0] + step[0]]?.[spot[1] + step[1]]?.focus();
    });

    const key = make("div", figure, {className: "key"});
    make("small", key, {textContent: "attention 0"});
    make("span", key, {className: "scale"}).style.background = `linear-gradient(to right, ${COLOURS.join()})`;
    make("small", key, {textContent: "100 %"});
    if (gold.length) {
      const note = make("small", key);
      make("span", note, {className: "swatch"});
      note.append(" gold alignment");
    }
    if (maps.length > 1) {
      const label = make("label", key, {textContent: "show "});
      const choice = make("select", label);
      maps.forEach(({name}, index) => make("option", choice, {value: index, textContent: name}));
      choice.addEventListener("change", () => { weights = maps[choice.value].rows; paint(); });
    }
    paint();
  }

  globalThis.drawAttention = build; // for pages whose diagrams come later

  function start() {
    const waiting = new Set(document.querySelectorAll(".regard-attention:not([data-built])"));
    const once = figure => {
      // Every output of a notebook brings a copy of this script; another one may have been first.
      if (!waiting.delete(figure) || "built" in figure.dataset) return;
      figure.dataset.built = "";
      build(figure, JSON.parse(figure.querySelector("script").textContent));
    };
    addEventListener("beforeprint", () => waiting.forEach(once));
    const observer = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting)
      .forEach(entry => { observer.unobserve(entry.target); once(entry.target); }), {rootMargin: "600px"});
    waiting.forEach(figure => observer.observe(figure));
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start); else start();
})();
