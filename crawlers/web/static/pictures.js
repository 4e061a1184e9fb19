// Draws pictures of a crawl with uPlot, keeps them fresh while it runs, and saves them as PNG. Texts are only ever textContent.

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const CURVES = 8; // colours
const FIGURE = { width: 1600, height: 860, font: 25, line: 3.5, margin: 34 }; // of a saved picture, in pixels
const ROUND = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat(); // between ticks
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, ...[1, 2, 7, 14, 30, 61, 91, 182, 365, 730].map((days) => days * 86400)];
const root = document.documentElement;
const whole = new Intl.NumberFormat(root.lang);
const exact = new Intl.NumberFormat(root.lang, { maximumSignificantDigits: 4 });

const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const number = (value) => (Number.isInteger(value) ? whole : exact).format(value);
const moment = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

// Times in UTC; the first tick, and the first one of each day, have the day below.
function ticks(_, splits, __, ___, increment) {
  let day = "";
  return splits.map((seconds) => {
    const text = moment(seconds);
    const time = increment >= 86400 ? "" : text.slice(11, increment >= 60 ? 16 : 19);
    const below = text.slice(0, 10) === day ? "" : (day = text.slice(0, 10));
    return time ? `${time}${below && `\n${below}`}` : below;
  });
}

class Picture {
  constructor(figure) {
    this.figure = figure;
    this.plot = figure.querySelector(".plot");
    this.said = figure.querySelector(".said");
    this.curves = figure.querySelector(".curves");
    this.isLarge = figure.classList.contains("large");
    this.hidden = new Set(); // titles of series
    this.isRunning = true;
    this.isAsking = false;
    this.load();
    new ResizeObserver(() => this.uplot?.setSize(this.size())).observe(this.plot);
    if (this.isLarge) this.plot.addEventListener("keydown", (event) => this.move(event));
  }

  get isVisible() {
    const { top, bottom } = this.figure.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  refresh() {
    if (this.isRunning && this.isVisible && !this.isAsking) this.load();
  }

  async load() {
    this.isAsking = true;
    try {
      const response = await fetch(this.figure.dataset.values);
      const found = response.headers.get("content-type") === "application/json" ? await response.json() : {};
      if (response.status === 202) this.say(this.uplot ? "" : this.figure.dataset.computing);
      else if (response.ok) this.show(found);
      else this.say(found.problem || this.figure.dataset.failed);
    } catch { // the panel does not respond: asked again with the next refresh
      this.say(this.figure.dataset.failed);
    }
    this.isAsking = false;
  }

  say(text) {
    this.said.textContent = text;
    this.said.hidden = !text;
  }

  show(data) {
    const titles = (one) => JSON.stringify([one.x, one.y, one.series.map(({ title }) => title)]);
    const isSame = this.uplot && titles(this.data) === titles(data);
    this.data = data;
    this.isRunning = data.isRunning;
    this.say(data.series.length ? "" : this.figure.dataset.nothing);
    this.plot.hidden = !data.series.length;
    if (isSame && !this.isZoomed()) this.uplot.setData(this.values());
    else if (!isSame) this.draw();
    const notes = this.figure.querySelector(".notes");
    notes?.replaceChildren(...data.notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  }

  isZoomed() {
    const { min, max } = this.uplot.scales.x;
    const [low, high] = this.range();
    return min > low || max < high;
  }

  get isBars() {
    return this.data.mark === "bars";
  }

  // Of curves, or of the middles of bars.
  points() {
    const { points, step, x } = this.data;
    const middle = !this.isBars ? 0 : x.kind === "time" ? step / 2 : (step - 1) / 2;
    return points.map((point) => point + middle);
  }

  range() {
    const points = this.points();
    const beyond = this.isBars ? this.data.step / 2 : points.length === 1 ? 1 : 0;
    return points.length ? [points[0] - beyond, points.at(-1) + beyond] : [0, 1];
  }

  shown() {
    return this.data.series.filter(({ title }) => !this.hidden.has(title));
  }

  // The columns of uPlot. Bars stand on each other: the highest sums are drawn first, so that the lower ones cover them.
  values() {
    if (!this.isBars) return [this.points(), ...this.data.series.map(({ title, values }) => (this.hidden.has(title) ? values.map(() => null) : values))];
    const sums = this.data.points.map(() => 0);
    const stacked = this.data.series.map(({ title, values }) => values.map((value, at) => (sums[at] += this.hidden.has(title) ? 0 : value)));
    return [this.points(), ...stacked.reverse()];
  }

  look(place) {
    const { tone } = this.data.series[place];
    const dash = this.isBars || tone !== "any" ? [] : DASHES[Math.floor((place % 16) / 4)];
    return { stroke: colour(tone === "any" ? `curve-${(place % CURVES) + 1}` : `tone-${tone}`), dash };
  }

  size() {
    const isNarrow = this.plot.clientWidth < 480;
    return { width: Math.max(200, this.plot.clientWidth), height: this.isLarge ? (isNarrow ? 300 : 430) : 230 };
  }

  options({ width, height }, font, line, hooks) {
    const { x, y, series } = this.data;
    const text = { font: `${font}px system-ui, sans-serif`, stroke: colour("soft"), labelFont: `${font}px system-ui, sans-serif`, labelSize: font * 1.9, gap: font * 0.4, ticks: { show: false } };
    const isTime = x.kind === "time";
    const places = series.map((_, place) => place);
    if (this.isBars) places.reverse();
    const room = (u, texts, axis, cycle) => {
      if (cycle > 1) return u.axes[axis]._size;
      u.ctx.font = u.axes[axis].font[0];
      return font + Math.max(0, ...(texts ?? []).map((one) => u.ctx.measureText(one).width / devicePixelRatio));
    };
    return {
      width, height, legend: { show: false }, padding: [font * 0.8, font * (isTime ? 3.2 : 1.6), 0, 0],
      cursor: { y: false, drag: { x: this.isLarge, y: false }, points: { show: !this.isBars } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { x: { time: isTime, range: (u, low, high) => (this.isWhole(low, high) ? this.range() : [low, high]) }, y: { range: (u, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.06 : 1] } },
      axes: [
        { ...text, label: x.title, size: font * (isTime ? 3 : 1.9), space: font * (isTime ? 8 : 5), grid: { show: false }, border: { show: true, stroke: colour("line"), width: 1 }, values: isTime ? ticks : (u, splits) => splits.map(number), incrs: isTime ? SECONDS : ROUND },
        { ...text, label: y.title, size: room, space: font * 3, grid: { stroke: colour("grid"), width: 1 }, values: (u, splits) => splits.map(number), ...(y.kind === "number" ? { incrs: ROUND } : {}) },
      ],
      series: [{}, ...places.map((place) => {
        const { stroke, dash } = this.look(place);
        return this.isBars
          ? { fill: stroke, width: 0, paths: uPlot.paths.bars({ size: [0.9, 90] }), points: { show: false } }
          : { stroke, dash: dash.map((part) => part * line / 2), width: line, spanGaps: true, points: { size: line * 3, width: 0, fill: stroke } };
      })],
      hooks,
    };
  }

  isWhole(low, high) {
    const points = this.points();
    return points.length < 2 || (low === points[0] && high === points.at(-1));
  }

  draw() {
    this.uplot?.destroy();
    this.uplot = null;
    if (this.data.series.length) {
      this.uplot = new uPlot(this.options(this.size(), 12, 2, { setCursor: [(u) => this.read(u.cursor.idx)] }), this.values(), this.plot);
    }
    this.legend();
    this.figure.dataset.drawn = "";
    document.querySelectorAll("[data-save]").forEach((button) => { button.disabled = !this.uplot; });
  }

  legend() {
    this.curves.replaceChildren(...this.data.series.map((one, place) => {
      const item = document.createElement("li");
      const button = Object.assign(document.createElement("button"), { type: "button" });
      const { stroke, dash } = this.look(place);
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [name, value] of Object.entries({ width: 24, height: 12, "aria-hidden": true })) svg.setAttribute(name, value);
      for (const [name, value] of Object.entries({ x1: 0, x2: 24, y1: 6, y2: 6, stroke, "stroke-width": this.isBars ? 12 : 3, "stroke-dasharray": dash.join(" ") })) line.setAttribute(name, value);
      svg.append(line);
      button.setAttribute("aria-pressed", !this.hidden.has(one.title));
      button.append(svg, Object.assign(document.createElement("span"), { textContent: one.title.replace(/^http:\/\//, "") }), document.createElement("output"));
      button.addEventListener("click", () => {
        if (!this.hidden.delete(one.title)) this.hidden.add(one.title);
        button.setAttribute("aria-pressed", !this.hidden.has(one.title));
        this.uplot.setData(this.values(), !this.isZoomed());
      });
      item.append(button);
      return item;
    }));
  }

  // The values at a point stand next to the names of the curves.
  read(at) {
    this.data.series.forEach(({ values }, place) => {
      const value = at === null || at === undefined ? null : values[at];
      const output = this.curves.children[place]?.querySelector("output");
      if (output) output.textContent = value === null || value === undefined ? "" : number(value);
    });
    const { points, x } = this.data;
    const point = at === null || at === undefined ? undefined : points[at];
    this.plot.title = point === undefined ? "" : `${x.title}: ${x.kind === "time" ? moment(point) : number(point)}`;
  }

  move(event) {
    const last = this.data?.points.length - 1;
    const now = this.uplot?.cursor.idx ?? -1;
    const to = { ArrowRight: Math.min(last, now + 1), ArrowLeft: Math.max(0, now - 1), Home: 0, End: last }[event.key];
    if (to === undefined || !this.uplot) return;
    event.preventDefault();
    this.uplot.setCursor({ left: this.uplot.valToPos(this.points()[to], "x"), top: 10 });
  }

  // The picture as a figure: title, axes, curves and their names on a ground of one colour.
  async save(name) {
    const { width, height, font, line, margin } = FIGURE;
    const ratio = devicePixelRatio;
    const isZoomed = this.isZoomed();
    const away = document.createElement("div");
    const plot = await new Promise((drawn) => {
      const made = new uPlot(this.options({ width: width - 2 * margin, height }, font, line, { draw: [() => drawn(made)] }), this.values(), away);
      if (isZoomed) made.setScale("x", { min: this.uplot.scales.x.min, max: this.uplot.scales.x.max });
    });
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    context.font = `${font}px system-ui, sans-serif`;
    const rows = this.rows(context, width - 2 * margin, font);
    const head = margin + font * 3.4;
    canvas.width = width * ratio;
    canvas.height = (head + height + (rows.length + 0.6) * font * 1.7 + margin) * ratio;
    context.scale(ratio, ratio);
    context.fillStyle = colour("paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.textBaseline = "middle";
    context.fillStyle = colour("ink");
    context.font = `600 ${font * 1.3}px system-ui, sans-serif`;
    context.fillText(this.data.title, margin, margin + font * 0.7);
    context.font = `${font}px system-ui, sans-serif`;
    context.fillStyle = colour("soft");
    context.fillText(this.figure.dataset.subtitle, margin, margin + font * 2.3, width - 2 * margin);
    context.drawImage(plot.ctx.canvas, margin, head, width - 2 * margin, height);
    rows.forEach((row, at) => row.forEach(({ place, title, left }) => this.entry(context, margin + left, head + height + (at + 0.9) * font * 1.7, font, place, title)));
    plot.destroy();
    const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(picture), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // The names of the curves in lines that are not wider than *most*.
  rows(context, most, font) {
    const rows = [[]];
    let left = 0;
    this.data.series.forEach(({ title }, place) => {
      if (this.hidden.has(title)) return;
      const text = title.replace(/^http:\/\//, "");
      const width = context.measureText(text).width + font * 4;
      if (left && left + width > most) { rows.push([]); left = 0; }
      rows.at(-1).push({ place, title: text, left });
      left += width;
    });
    return rows;
  }

  entry(context, left, top, font, place, title) {
    const { stroke, dash } = this.look(place);
    context.strokeStyle = stroke;
    context.lineWidth = this.isBars ? font * 0.8 : 4;
    context.setLineDash(dash.map((part) => part * 1.75));
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + font * 1.8, top);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colour("ink");
    context.fillText(title, left + font * 2.3, top);
  }
}

const all = [...document.querySelectorAll(".picture")].map((figure) => new Picture(figure));
document.body.addEventListener("refresh", () => all.forEach((one) => one.refresh()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all.forEach((one) => one.data && one.draw()));
document.querySelector("[data-save]")?.addEventListener("click", (event) => all[0].save(event.target.dataset.save));
