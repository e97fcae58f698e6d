// The page asks the service and draws the answers; words reach the document as text only, never as markup.
const EXAMPLES = {reverse: "abcdabbc", en: "A little girl plays with a red ball on the street.",
  de: "Auf der Straße spielt ein kleines Mädchen mit einem roten Ball."};
const PAUSE = 200; // milliseconds of silence after which the sentence is translated
const CELL = {one: 56, many: 40}; // pixels of the largest cell of a map: to be read from the last row of a classroom

const element = id => document.getElementById(id);
const make = (tag, parent, properties = {}, ...classes) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.classList.add(...classes);
  parent?.append(made);
  return made;
};
const percent = share => share < .0001 ? "< 0.01 %" : `${(100 * share).toFixed(share < .001 ? 2 : share < .0995 ? 1 : 0)} %`;
const signed = number => number.toFixed(2).replace("-", "−");
const later = (wait, action) => {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(action, wait); };
};

async function ask(path, question, signal) {
  const options = question && {method: "POST", body: JSON.stringify(question), headers: {"Content-Type": "application/json"}};
  const response = await fetch(`api/${path}`, {...options, signal});
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Where each word stands in its text: [start, end].
function places(text, words) {
  let end = 0;
  return words.map(word => {
    const start = Math.max(text.indexOf(word, end), end);
    end = start + word.length;
    return [start, end];
  });
}

const settings = () => {
  for (const {id, value, min, max, validity} of document.querySelectorAll("#ask input:invalid"))
    if (validity.rangeUnderflow || validity.rangeOverflow) throw new Error(`${id.replace("_", " ")}: got ${value}, want ${min} to ${max}.`);
  const beam = element("beam").valueAsNumber || 1;
  const ranking = beam === 1 ? {} : {length_penalty: element("length_penalty").valueAsNumber || 0}; // greedy search compares nothing
  return {beam, n_best: Math.min(beam, element("n_best").valueAsNumber || 1), ...ranking};
};
// Decoded piece by piece: what is no code, such as the end of 50%, stays as it is.
const bookmarked = () => location.hash.slice(1).replace(/(%[0-9a-f]{2})+/gi, code => {
  try { return decodeURIComponent(code); } catch { return code; }
});
const sentence = () => element("text").value.replace(/\s*\n\s*/g, " ");

class View {
  constructor(model, isAlone) {
    this.model = model;
    this.prefix = "";
    this.root = element("view").content.cloneNode(true).firstElementChild;
    this.find = selector => this.root.querySelector(selector);
    this.find("h2").textContent = model.name;
    this.find("h2").hidden = isAlone;
    this.find(".forced button").addEventListener("click", () => this.begin(""));
    this.find(".maps").addEventListener("click", event => this.whatIf(this.rowOf(event.target)));
    this.find(".maps").addEventListener("keydown", event => event.key === "Enter" && this.whatIf(this.rowOf(event.target)));
    this.find(".search").addEventListener("toggle", () => this.refreshTree().catch(error => this.tell(error)));
    this.prepareSteps();
    this.describe();
  }

  question() {
    return {model: this.model.name, text: sentence(), prefix: this.prefix, ...settings()};
  }

  begin(prefix) {
    this.prefix = prefix;
    this.refresh();
  }

  async refresh() {
    this.control?.abort();
    this.control = new AbortController();
    this.root.classList.add("waiting");
    try {
      const answer = await ask("show", {...this.question(), tokens: element("tokens").checked}, this.control.signal);
      const isMute = sentence().trim() && !answer.translations[0].text;
      this.find(".problem").textContent = isMute ? "The model produces no words for this sentence."
        : answer.has_attention ? "" : "This model has no attention: it has nothing to look at but the whole sentence.";
      this.answer = answer;
      this.choose(0);
      await this.refreshTree();
      this.root.classList.remove("waiting");
    } catch (error) {
      if (error.name !== "AbortError") this.clear();
      this.tell(error);
    }
  }

  clear() {
    this.answer = this.steps = this.nodes = null;
    this.find(".forced").hidden = this.find(".best").hidden = true;
    for (const part of [".translation", ".best", ".maps", ".tree .all", ".tree svg"]) this.find(part).replaceChildren();
    this.showStep();
  }

  tell(error) {
    if (error.name === "AbortError") return; // a newer question has taken its place
    this.root.classList.remove("waiting");
    this.find(".problem").textContent = error instanceof TypeError ? "The service does not answer. Is regard serve still running?" : error.message;
  }

  choose(number) {
    this.number = number;
    this.chosen = this.answer.translations[number];
    this.find(".forced").hidden = !this.prefix;
    this.showText();
    this.showBest();
    this.drawMaps();
  }

  showText() {
    const {text, words, finished} = this.chosen, line = this.find(".translation");
    let end = 0;
    line.replaceChildren();
    places(text, words).forEach(([start, stop], index) => {
      line.append(text.slice(end, start));
      const word = make("button", line, {type: "button", textContent: text.slice(start, stop), title: "choose another word here"}, "word");
      word.classList.toggle("given", stop <= this.prefix.length);
      const lightUp = () => this.rows()[index]?.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
      const lightDown = () => this.find("table")?.dispatchEvent(new PointerEvent("pointerleave"));
      for (const [event, action] of [["pointerenter", lightUp], ["focus", lightUp], ["pointerleave", lightDown], ["blur", lightDown]])
        word.addEventListener(event, action);
      word.addEventListener("click", () => this.whatIf(index));
      end = stop;
    });
    line.append(text.slice(end) + (finished ? "" : " …"));
  }

  showBest() {
    const list = this.find(".best"), all = this.answer.translations;
    list.replaceChildren();
    list.hidden = all.length < 2;
    all.forEach(({text, log_prob, score}, number) => {
      const button = make("button", make("li", list), {type: "button", ariaPressed: number === this.number});
      make("small", button, {textContent: `P ${percent(Math.exp(log_prob))} · score ${signed(score)}`});
      make("bdi", button, {textContent: text});
      button.addEventListener("click", () => { this.choose(number); this.find(".best [aria-pressed=true]").focus(); });
    });
  }

  drawMaps() {
    const box = this.find(".maps"), diagram = this.chosen.diagram;
    box.replaceChildren();
    if (!diagram) return;
    const isSplit = element("heads").value === "all" && diagram.maps.length > 1;
    const maps = isSplit ? diagram.maps.slice(1) : diagram.maps.slice(0, 1);
    box.classList.toggle("one", maps.length === 1);
    const figures = maps.map(() => make("figure", box, {}, "regard-attention"));
    figures.forEach((figure, index) => drawAttention(figure, {...diagram, title: isSplit ? maps[index].name : "", maps: [maps[index]]}, isSplit ? CELL.many : CELL.one));
  }

  rows() {
    return element("tokens").checked ? [] : [...this.find(".maps table")?.querySelectorAll("th.row") ?? []];
  }

  rowOf(target) {
    const row = target.closest("th.row")?.parentElement;
    return row && !element("tokens").checked ? row.sectionRowIndex : -1;
  }

  whatIf(index) {
    if (index < 0) return;
    const {text, words} = this.chosen, [start] = places(text, words)[index], prefix = text.slice(0, start).trimEnd();
    ask("choices", {model: this.model.name, text: sentence(), prefix})
      .then(({choices}) => this.offer(prefix, choices, words[index])).catch(error => this.tell(error));
  }

  offer(prefix, choices, current) {
    const list = element("choices").querySelector("ol");
    element("choices").querySelector("p").textContent = prefix ? `\u2068${prefix}\u2069 …` : "The first word";
    list.replaceChildren();
    for (const choice of choices) {
      const button = make("button", make("li", list), {type: "button", disabled: choice.text === null});
      const ends = choice.text === null ? [] : places(choice.text, choice.words)[choice.word];
      const word = choice.text === null ? "end of the sentence" : choice.words[choice.word];
      make("b", button, {textContent: word, dir: "auto"});
      make("span", button, {textContent: percent(choice.probability)});
      make("small", button, {textContent: choice.text === null ? "" : `… ${choice.text.slice(ends[0])}`, dir: "auto"});
      button.style.setProperty("--share", `${100 * choice.probability}%`);
      if (word === current) button.ariaCurrent = "true";
      button.addEventListener("click", () => { element("choices").close(); this.begin(choice.text.slice(0, ends[1])); });
    }
    element("choices").showModal();
  }

  prepareSteps() {
    const [back, on] = this.root.querySelectorAll(".steps button"), slider = this.find(".steps input");
    back.addEventListener("click", () => this.goTo(slider.valueAsNumber - 1));
    on.addEventListener("click", () => this.goTo(slider.valueAsNumber + 1));
    slider.addEventListener("input", () => this.goTo(slider.valueAsNumber));
    this.find(".tree").addEventListener("keydown", event => {
      const by = {ArrowLeft: -1, ArrowRight: 1, Home: -1e3, End: 1e3}[event.key];
      if (!by) return;
      event.preventDefault();
      this.goTo(slider.valueAsNumber + by);
    });
  }

  async refreshTree() {
    if (!this.find(".search").open || !this.answer) return;
    const box = this.find(".tree .all"), slider = this.find(".steps input");
    const {n_best, ...question} = this.question();
    this.steps = sentence().trim() ? (await ask("search-tree", question, this.control.signal)).steps : [];
    const isPieces = this.steps.some(step => step.nodes.some(node => node.text.startsWith("▁")));
    box.replaceChildren();
    this.nodes = new Map();
    this.steps.forEach(({nodes}, step) => {
      const column = make("div", box, {}, "step");
      for (const node of nodes) {
        const card = make("div", column, {}, "node");
        make("bdi", card, {textContent: step ? pieceName(node.text, isPieces) : "start"});
        const notes = step ? [percent(Math.exp(node.log_prob)), signed(node.total), node.reason] : [];
        for (const note of notes.filter(Boolean)) make("small", card, {textContent: note});
        this.nodes.set(node.id, {...node, card});
      }
    });
    slider.max = this.steps.length - 1;
    slider.value = slider.max;
    this.drawLinks();
  }

  drawLinks() {
    const svg = this.find(".tree svg"), box = this.find(".tree .all");
    svg.replaceChildren();
    svg.style.width = `${box.offsetWidth}px`;
    svg.style.height = `${box.offsetHeight}px`;
    const order = node => node.is_on_best_path + node.is_kept; // the winner on top
    for (const node of [...this.nodes?.values() ?? []].sort((a, b) => order(a) - order(b))) {
      const parent = this.nodes.get(node.parent);
      if (!parent) continue;
      const [x, y] = [parent.card.offsetLeft + parent.card.offsetWidth, parent.card.offsetTop + parent.card.offsetHeight / 2];
      const [toX, toY] = [node.card.offsetLeft, node.card.offsetTop + node.card.offsetHeight / 2];
      const bend = node.card.parentElement.offsetLeft - 28, middle = (bend + toX) / 2;
      node.link = document.createElementNS(svg.namespaceURI, "path");
      node.link.setAttribute("d", `M${x} ${y} H${bend} C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`);
      svg.append(node.link);
    }
    this.showStep();
  }

  showStep() {
    this.find(".steps").hidden = !this.steps?.length;
    if (!this.steps?.length) return;
    const step = this.find(".steps input").valueAsNumber, last = this.steps.length - 1;
    const alive = new Set(); // what leads to a hypothesis that is still open after this step, or has ended
    for (const node of this.nodes.values())
      if (node.is_kept && (node.step === step || node.reason && node.step < step))
        for (let at = node; at; at = this.nodes.get(at.parent)) alive.add(at.id);
    for (const node of this.nodes.values())
      for (const part of [node.card, node.link].filter(Boolean)) {
        part.classList.toggle("lost", !node.is_kept);
        part.classList.toggle("dead", node.is_kept && !alive.has(node.id));
        part.classList.toggle("won", step === last && node.is_on_best_path);
        part.classList.toggle("later", node.step > step);
      }
    [...this.find(".tree .all").children].forEach((column, index) => column.classList.toggle("later", index > step));
    const {weighed, nodes} = this.steps[step], kept = nodes.filter(node => node.is_kept).length;
    this.find(".steps output").textContent = step ? `step ${step} of ${last}: ${weighed} continuations weighed, ${kept} kept` : "the start";
  }

  goTo(step) {
    if (!this.steps?.length) return;
    const slider = this.find(".steps input"), tree = this.find(".tree");
    slider.value = step;
    this.showStep();
    const column = this.find(".tree .all").children[slider.value];
    tree.scrollTo({left: column.offsetLeft + column.offsetWidth + 24 - tree.clientWidth});
  }

  describe() {
    const {corpus, source, target, weights, vocabulary, tokenizer, attention, heads, decoder, scores, card} = this.model;
    this.find(".about p").textContent = [source && `${source} → ${target}`, corpus, `${(weights / 1e6).toFixed(2)} million weights`,
      `${vocabulary.join(" and ")} ${tokenizer} tokens`, `attention ${attention}${heads > 1 ? ` of ${heads} heads` : ""}, wired ${decoder}`].filter(Boolean).join(" · ");
    for (const [name, all] of Object.entries(scores))
      for (const {name: metric, value, interval, signature} of Object.values(all)) {
        const row = make("tr", this.find(".about table"));
        const range = interval?.every(Number.isFinite) ? interval.map(end => end.toFixed(2)).join(" to ") : "";
        for (const text of [name, metric, value?.toFixed(2) ?? "–", range, signature]) make("td", row, {textContent: text});
      }
    this.find(".about pre").textContent = card;
    this.find(".about pre").hidden = !card;
  }
}

// Pieces that begin a word are shown without their mark, the others with a hyphen.
const pieceName = (text, isPieces) => text === "</s>" ? "end" : !isPieces ? text : text.startsWith("▁") ? text.slice(1) || "▁" : /^\p{L}/u.test(text) ? `-${text}` : text;

let views = [];
const refresh = () => views.forEach(view => view.refresh());
const redraw = () => views.forEach(view => { if (view.answer) { view.drawMaps(); view.drawLinks(); } });

function arrange(models) {
  const boxes = [...element("models").querySelectorAll("input")];
  const chosen = models.filter((_, index) => boxes[index]?.checked ?? true);
  views = chosen.map(model => new View(model, models.length === 1));
  element("views").replaceChildren(...views.map(view => view.root));
  refresh();
}

async function start() {
  const models = await ask("models");
  if (models.length > 1)
    models.forEach(({name}, index) => {
      const label = make("label", element("models"));
      make("input", label, {type: "checkbox", checked: index < 2}).addEventListener("change", () => arrange(models));
      label.append(` ${name}`);
    });
  const fit = () => {
    element("text").style.height = "auto";
    element("text").style.height = `${element("text").scrollHeight + 2}px`;
  };
  const read = () => {
    element("text").value = bookmarked() || (EXAMPLES[models[0].corpus] ?? EXAMPLES[models[0].source] ?? EXAMPLES.de);
    fit();
  };
  const translateAnew = () => {
    views.forEach(view => { view.prefix = ""; });
    refresh();
  };
  const typed = later(PAUSE, () => {
    history.replaceState(null, "", `#${encodeURIComponent(sentence())}`);
    translateAnew();
  });
  element("text").addEventListener("input", typed);
  element("text").addEventListener("input", fit);
  element("text").addEventListener("keydown", event => { if (event.key === "Enter") event.preventDefault(); });
  element("ask").addEventListener("submit", event => event.preventDefault());
  for (const id of ["beam", "n_best", "length_penalty", "tokens"]) element(id).addEventListener("change", refresh);
  element("heads").addEventListener("change", redraw);
  element("choices").addEventListener("click", event => { if (event.target === event.currentTarget) event.target.close(); });
  addEventListener("hashchange", () => { read(); translateAnew(); });
  addEventListener("resize", later(100, () => { fit(); redraw(); }));
  read();
  arrange(models);
}

start().catch(error => make("p", element("views"), {textContent: error.message, role: "alert"}, "problem"));
