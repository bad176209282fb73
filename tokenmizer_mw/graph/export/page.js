"use strict";
(() => {
  if (!matchMedia("(scripting: enabled)").matches) return; // an older browser: the page stays what it is without scripts
  const one = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const data = JSON.parse(one("data").textContent);
  const map = one("map");
  const sheet = map.querySelector(".sheet");
  const lanes = all(".lane", sheet);
  const cards = all("li", sheet);
  const buttons = cards.map((card) => card.firstChild);
  const labels = buttons.map((button) => button.firstChild.textContent);
  const texts = data.nodes.map((node, place) => [labels[place], node.detail, node.said].join("\n").toLowerCase());
  const types = lanes.flatMap((lane) => all("li", lane).map(() => lane));
  const changes = all(".story li");
  const now = Infinity;
  const CARD = { width: 220, height: 66 };
  let shown = cards.map(() => -1);
  let chosen = -1;
  let scale = 1;

  // What was believed, and what was true, at a time.

  const recorded = (node, at) => {
    const known = node.moves.filter(([since]) => since <= at);
    return known.length ? known[known.length - 1][1] : -1;
  };

  const valid = (node, at) => {
    if (at < (node.from ?? node.moves[0][0]) || (node.until !== undefined && at >= node.until)) return -1;
    const past = node.moves.filter(([since]) => since <= at).map(([, status]) => status);
    const known = past.length ? past : [node.moves[0][1]];
    const holding = known.filter((status) => !data.over.includes(status));
    const last = known[known.length - 1];
    if (node.until === undefined) return data.over.includes(last) ? -1 : last;
    return holding.length ? holding[holding.length - 1] : -1;
  };

  const times = (clock) => {
    const found = data.nodes.flatMap((node) => node.moves.map(([since]) => since));
    if (clock === "valid") {
      for (const node of data.nodes) found.push(...[node.from, node.until].filter((time) => time !== undefined));
    }
    return [...new Set(found)].sort((a, b) => a - b);
  };

  const digits = (number) => String(number).padStart(2, "0");

  // In the reader's time zone, written by hand: asking the browser for its words for it costs more than the whole map.
  const moment = (time) => {
    const at = new Date((data.start + time) * 1000);
    const day = [at.getFullYear(), digits(at.getMonth() + 1), digits(at.getDate())].join("-");
    return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(digits).join(":")}`;
  };

  // What is shown.

  const ticked = (name) => new Set(all(`input[name=${name}]:checked`).map((box) => box.value));
  const clock = () => document.querySelector("input[name=clock]:checked").value;
  let steps = [];

  const instant = () => {
    const place = Number(one("at").value);
    return place >= steps.length - 1 && clock() === "recorded" ? now : steps[place];
  };

  const statusAt = (node, at) => (clock() === "valid" ? valid(node, at) : recorded(node, at));

  const apply = () => {
    const kinds = ticked("type");
    const statuses = ticked("status");
    const query = one("query").value.trim().toLowerCase();
    const at = instant();
    let count = 0;
    shown = data.nodes.map((node, place) => {
      const status = statusAt(node, at);
      const name = status < 0 ? "" : data.statuses[status][0];
      const fits = status >= 0 && statuses.has(name) && kinds.has(types[place].dataset.type) && texts[place].includes(query);
      if (fits) count += 1;
      if (cards[place].hidden === fits) cards[place].hidden = !fits;
      if (fits && cards[place].className !== `s-${name}`) tell(place, status);
      return fits ? status : -1;
    });
    for (const lane of lanes) {
      const empty = !lane.querySelector("li:not([hidden])");
      if (lane.hidden !== empty) lane.hidden = empty;
    }
    one("found").textContent = `${count} of ${cards.length} shown`;
    reach();
    lines();
  };

  const tell = (place, status) => {
    const [name, mark, word] = data.statuses[status];
    cards[place].className = `s-${name}`;
    const note = buttons[place].lastChild;
    note.textContent = `${mark} ${word}${note.textContent.slice(note.textContent.indexOf(" \u00b7 "))}`;
  };

  const showTime = () => {
    const range = one("at");
    const at = steps[Number(range.value)];
    const told = steps.length ? moment(at) : "";
    one("when").textContent = told;
    range.setAttribute("aria-valuetext", told);
  };

  const setClock = () => {
    steps = times(clock());
    const range = one("at");
    range.max = String(Math.max(0, steps.length - 1));
    range.value = range.max;
    showTime();
    apply();
  };

  // The map.

  const place = (element, [x, y, width, height]) => {
    element.style.left = `${x}px`;
    element.style.top = `${y}px`;
    if (width !== undefined) {
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
    }
  };

  const arrange = () => {
    let next = 0;
    data.lanes.forEach((box, index) => {
      place(lanes[index], box);
      for (const _ of all("li", lanes[index])) {
        const [x, y] = data.nodes[next].at;
        place(cards[next], [x - box[0], y - box[1]]);
        next += 1;
      }
    });
    const [width, height] = data.size;
    const edges = sheet.querySelector(".edges");
    edges.setAttribute("viewBox", `0 0 ${width} ${height}`);
    place(edges, [0, 0, width, height]);
    resize(Math.min(1, Math.max(0.8, fitting())));
  };

  const fitting = () => Math.min(1, (map.clientWidth - 24) / data.size[0]);

  const resize = (to) => {
    scale = Math.min(2, Math.max(0.08, to));
    if (!map.classList.contains("chart")) return;
    sheet.style.transform = `translate(10px,10px) scale(${scale})`;
    sheet.style.width = `${data.size[0] * scale + 20}px`;
    sheet.style.height = `${data.size[1] * scale + 20}px`;
  };

  const curve = ([x, y], [u, v]) => {
    const { width, height } = CARD;
    if (x + width <= u || u + width <= x) {
      const [from, to] = x + width <= u ? [x + width, u] : [x, u + width];
      const half = (from + to) >> 1;
      const [start, end] = [y + height / 2, v + height / 2];
      return `M${from} ${start}C${half} ${start} ${half} ${end} ${to} ${end}`;
    }
    const [from, to] = y + height <= v ? [y + height, v] : [y, v + height];
    const half = (from + to) >> 1;
    const [start, end] = [x + width / 2, u + width / 2];
    return `M${start} ${from}C${start} ${half} ${end} ${half} ${end} ${to}`;
  };

  const lines = () => {
    if (!map.classList.contains("chart")) return;
    const far = data.relations.map(() => []);
    const drawn = [];
    const every = one("lines").checked;
    for (const [source, target, kind] of data.edges) {
      if (shown[source] < 0 || shown[target] < 0 || source === target) continue;
      const path = curve(data.nodes[source].at, data.nodes[target].at);
      const [name, , dash] = data.relations[kind];
      if (source === chosen || target === chosen) drawn.push(line(path, "near", dash, "arrow-near"));
      else if (name === "supersedes") drawn.push(line(path, name, dash, "arrow"));
      else if (every) far[kind].push(path);
    }
    const rest = far.flatMap((paths, kind) =>
      paths.length ? [line(paths.join(""), data.relations[kind][0], data.relations[kind][2])] : [],
    );
    sheet.querySelector(".edges").replaceChildren(...rest, ...drawn);
  };

  const line = (path, name, dash, arrow) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
    made.setAttribute("class", name);
    made.setAttribute("d", path);
    if (dash) made.setAttribute("stroke-dasharray", dash);
    if (arrow) made.setAttribute("marker-end", `url(#${arrow})`);
    return made;
  };

  const look = (view) => {
    const chart = view === "map";
    map.classList.toggle("chart", chart);
    map.classList.toggle("list", !chart);
    if (chart) arrange();
    else for (const element of [sheet, ...lanes, ...cards]) element.removeAttribute("style");
    for (const name of ["zoom-fit", "lines"]) one(name).parentElement.hidden = !chart;
    lines();
  };

  // One fact.

  const element = (name, content = [], more = {}) => {
    const made = document.createElement(name);
    made.append(...[content].flat());
    for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
    return made;
  };

  const mention = (place_) => element("a", element("bdi", labels[place_]), { href: `#${cards[place_].id}` });

  const listed = (title, items) =>
    items.length ? [element("h3", title), element("ul", items.map((item) => element("li", item)))] : [];

  const ancestors = (place_) => {
    const found = new Set();
    const waiting = [place_];
    while (waiting.length) {
      const next = waiting.pop();
      data.steps.forEach(([old, heir], step) => {
        if (heir === next && !found.has(step)) {
          found.add(step);
          waiting.push(old);
        }
      });
    }
    return [...found].sort((a, b) => a - b);
  };

  const relations = (place_) =>
    data.edges
      .filter(([source, target, kind]) =>
        data.relations[kind][0] !== "supersedes" && (source === place_ || target === place_))
      .map(([source, target, kind]) =>
        source === place_
          ? [`${data.relations[kind][1]} `, mention(target)]
          : [mention(source), ` ${data.relations[kind][1]} this`],
      );

  const about = (place_) => {
    const node = data.nodes[place_];
    const lane = types[place_];
    const [, mark, word] = data.statuses[shown[place_] < 0 ? node.moves[node.moves.length - 1][1] : shown[place_]];
    const icon = lane.querySelector(".icon").cloneNode(true);
    const tags = [element("span", [icon, lane.dataset.word], { class: `tag ${lane.classList[1]}` })];
    tags.push(element("span", `${mark} ${word}`, { class: "tag" }));
    if (node.kind) tags.push(element("span", node.kind, { class: "tag" }));
    if (node.sure) tags.push(element("span", `${node.sure} sure`, { class: "tag" }));
    const parts = [element("p", tags)];
    if (node.detail) parts.push(element("p", node.detail, { dir: "auto" }));
    parts.push(element("h3", "Said by"), element("p", node.by));
    if (node.said) parts.push(element("blockquote", node.said, { dir: "auto" }));
    if (node.why) parts.push(element("h3", "No longer so, because"), element("p", node.why, { dir: "auto" }));
    const chain = ancestors(place_).map((step) => changes[step].cloneNode(true));
    if (chain.length) parts.push(element("h3", "How it came to this"), element("ol", chain));
    const heirs = data.steps.flatMap(([old], step) => (old === place_ ? [changes[step].cloneNode(true)] : []));
    if (heirs.length) parts.push(element("h3", "What took its place"), element("ol", heirs));
    parts.push(...listed("Relations", relations(place_)));
    const history = node.moves.map(([since, status]) => [`${moment(since)}: ${data.statuses[status][2]}`]);
    if (node.from !== undefined) history.push([`holds from ${moment(node.from)}`]);
    if (node.until !== undefined) history.push([`holds until ${moment(node.until)}`]);
    parts.push(...listed("When", history));
    return parts;
  };

  const choose = (place_, { reveal = false } = {}) => {
    if (chosen >= 0) buttons[chosen].removeAttribute("aria-pressed");
    chosen = place_;
    map.parentElement.classList.toggle("open", place_ >= 0);
    if (place_ < 0) {
      one("details-title").textContent = "Details";
      one("about").replaceChildren();
    } else {
      buttons[place_].setAttribute("aria-pressed", "true");
      one("details-title").replaceChildren(element("bdi", labels[place_]));
      one("about").replaceChildren(...about(place_));
      reach(place_);
      if (reveal && shown[place_] >= 0) cards[place_].scrollIntoView({ block: "center", inline: "center" });
    }
    lines();
  };

  // The keyboard: one stop for the tab key, arrows from card to card.

  let stop = 0;

  const reach = (to = stop) => {
    buttons[stop]?.setAttribute("tabindex", "-1");
    const first = shown.findIndex((status) => status >= 0);
    stop = shown[to] >= 0 ? to : first;
    buttons[stop]?.setAttribute("tabindex", "0");
  };

  const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  const neighbour = (from, [dx, dy]) => {
    const here = cards[from].getBoundingClientRect();
    let best = -1;
    let least = Infinity;
    cards.forEach((card, place_) => {
      if (shown[place_] < 0 || place_ === from) return;
      const there = card.getBoundingClientRect();
      const [x, y] = [there.left - here.left, there.top - here.top];
      const ahead = x * dx + y * dy;
      const aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (ahead > 1 && ahead + 3 * aside < least) {
        least = ahead + 3 * aside;
        best = place_;
      }
    });
    return best;
  };

  map.addEventListener("keydown", (event) => {
    const from = buttons.indexOf(event.target);
    if (from < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const visible = shown.flatMap((status, place_) => (status >= 0 ? [place_] : []));
    const ends = { Home: visible[0], End: visible[visible.length - 1] };
    const to = event.key in ends ? ends[event.key] : event.key in WAYS ? neighbour(from, WAYS[event.key]) : -1;
    if (event.key in WAYS || event.key in ends) event.preventDefault();
    if (to < 0) return;
    reach(to);
    buttons[to].focus();
  });

  map.addEventListener("click", (event) => {
    const place_ = cards.indexOf(event.target.closest("li"));
    if (place_ < 0) return;
    choose(place_);
    history.replaceState(null, "", `#${cards[place_].id}`);
  });

  const named = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const place_ = id ? cards.findIndex((card) => card.id === id) : -1;
    if (place_ >= 0) choose(place_, { reveal: true });
  };

  const shut = () => {
    choose(-1);
    history.replaceState(null, "", "#");
  };

  const leave = () => {
    shut();
    buttons[stop]?.focus();
  };

  one("close").addEventListener("click", leave);
  map.parentElement.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chosen >= 0) leave();
  });

  one("query").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chosen >= 0) shut();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const later = shown.findIndex((status, place_) => status >= 0 && place_ > chosen);
    const next = later >= 0 ? later : shown.findIndex((status) => status >= 0);
    if (next >= 0) choose(next, { reveal: true });
  });

  one("query").addEventListener("input", apply);
  one("tools").addEventListener("submit", (event) => event.preventDefault());
  one("tools").addEventListener("change", (event) => {
    if (event.target.name === "view") look(event.target.value);
    else if (event.target.name === "clock") setClock();
    else if (event.target.id === "lines") lines();
    else if (event.target.type === "checkbox") apply();
  });
  one("at").addEventListener("input", () => {
    showTime();
    apply();
  });
  one("zoom-in").addEventListener("click", () => resize(scale * 1.25));
  one("zoom-out").addEventListener("click", () => resize(scale / 1.25));
  one("zoom-fit").addEventListener("click", () =>
    resize(Math.min(fitting(), (map.clientHeight - 24) / data.size[1])),
  );
  one("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.body).colorScheme === "dark" ||
      (getComputedStyle(document.documentElement).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.style.colorScheme = dark ? "light" : "dark";
  });
  addEventListener("hashchange", named);

  for (const button of buttons) button.setAttribute("tabindex", "-1");
  if (matchMedia("(max-width:860px)").matches) {
    document.querySelector("input[value=list]").checked = true;
    one("filters").open = false;
  }
  look(document.querySelector("input[name=view]:checked").value);
  setClock();
  one("time").hidden = times("valid").length < 2;
  map.classList.add("ready");
  named();
})();
