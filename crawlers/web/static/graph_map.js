// Draws the graph of #graph in #map: search, details of a node, its neighbours. In the panel, where #map says how to
// explain a URL, pointing at a node shows its details and a click explains it; in a file, a click shows the details.
// Texts of strangers are only ever textContent. Colours of the page are those of its style sheet.
"use strict";
{
  const data = JSON.parse(document.getElementById("graph").textContent);
  const map = document.getElementById("map");
  const words = map.dataset;
  const scale = Math.max(0.45, Math.min(1, Math.sqrt(1500 / data.nodes.length)));
  const shortened = (text) => (text.length > 40 ? `…${text.slice(-39)}` : text);
  const graph = new graphology.DirectedGraph();
  data.nodes.forEach(([label, title, level, inDegree, outDegree, x, y, size, color], place) =>
    graph.addNode(place, { label: shortened(label.replace(/^https?:\/\/[^/]+(?=\/)/, "") || label), url: label, title, level, inDegree, outDegree, x, y, size: (2 + size / 5) * scale, color }));
  data.edges.forEach(([source, target]) => graph.mergeDirectedEdge(source, target, { size: 0.5 }));

  let page;
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    page = Object.fromEntries(["paper", "ink", "line", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
  readColours();
  const parts = (color) => {
    const digits = color.length === 4 ? [...color.slice(1)].map((digit) => digit + digit).join("") : color.slice(1);
    return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
  };
  // Mixed with the ground and not transparent: sigma adds transparent colours to a light ground, which makes them white.
  const share = Math.max(0.2, Math.min(0.5, 3000 / data.edges.length));
  const pale = (color) => {
    const ground = parts(page.paper);
    return `rgb(${parts(color).map((part, at) => Math.round(ground[at] + share * (part - ground[at]))).join(",")})`;
  };

  let chosen = null;
  let near = new Set();
  let isPicked = false; // by a search or a click: pointing at other nodes does not change it
  const isLight = data.edges.length <= 20000; // pointing at a node can draw all edges again without delay

  function drawHover(context, node, settings) {
    if (!node.label) return;
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    const width = context.measureText(node.label).width;
    context.fillStyle = page.paper;
    context.strokeStyle = page.accent;
    context.beginPath();
    context.roundRect(node.x + node.size + 1, node.y - 10, width + 9, 20, 4);
    context.fill();
    context.stroke();
    context.beginPath();
    context.arc(node.x, node.y, node.size + 1.5, 0, 2 * Math.PI);
    context.stroke();
    context.fillStyle = page.ink;
    context.fillText(node.label, node.x + node.size + 5, node.y + settings.labelSize / 3);
  }

  function drawn() {
    try {
      return new Sigma(graph, map, {
        labelColor: { color: page.ink },
        labelFont: "system-ui, sans-serif", labelSize: 12, labelRenderedSizeThreshold: data.nodes.length < 300 ? 2.5 : 5.5 * scale, labelDensity: 0.25, labelGridCellSize: 200,
        minEdgeThickness: 1.1, minCameraRatio: 0.02, maxCameraRatio: 3, hideEdgesOnMove: !isLight, zIndex: true,
        defaultDrawNodeHover: drawHover,
        nodeReducer: (node, of) => {
          if (chosen === null) return of;
          if (node === chosen) return { ...of, highlighted: true, forceLabel: true, zIndex: 2 };
          return near.has(node) ? { ...of, forceLabel: near.size < 30, zIndex: 1 } : { ...of, color: page.line, label: "", zIndex: 0 };
        },
        edgeReducer: (edge, of) => {
          const color = graph.getNodeAttribute(graph.source(edge), "color");
          if (chosen === null) return { ...of, color: pale(color) };
          return { ...of, hidden: !graph.hasExtremity(edge, chosen), color, size: 1 };
        },
      });
    } catch {
      map.textContent = words.failed;
      return null;
    }
  }
  const renderer = drawn();

  const details = document.getElementById("details");
  const hint = [...details.childNodes];
  const explained = (url) => words.explain + encodeURIComponent(url);
  function show(node) {
    const list = document.createElement("dl");
    const of = graph.getNodeAttributes(node);
    for (const [name, value] of [[words.title, of.title], [words.url, of.url], [words.level, of.level], [words.in, of.inDegree], [words.out, of.outDegree]]) {
      if (value === null || value === "") continue;
      const term = document.createElement("dt");
      const text = document.createElement("dd");
      term.textContent = name;
      text.textContent = typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : value;
      list.append(term, text);
    }
    details.replaceChildren(list);
    if (!words.explain) return;
    const link = document.createElement("a");
    link.href = explained(of.url);
    link.textContent = words.explainWord;
    details.append(link);
  }
  function choose(node, isFar) {
    chosen = node;
    near = new Set(node === null ? [] : graph.neighbors(node));
    if (node === null) details.replaceChildren(...hint);
    else show(node);
    if (renderer === null) return;
    if (node !== null && isFar) {
      const { x, y } = renderer.getNodeDisplayData(node);
      renderer.getCamera().animate({ x, y, ratio: Math.min(renderer.getCamera().ratio, 0.4) }, { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 400 });
    }
    renderer.refresh({ skipIndexation: true });
  }

  if (renderer !== null) {
    renderer.on("clickNode", ({ node }) => (words.explain ? location.assign(explained(graph.getNodeAttribute(node, "url"))) : choose(node, false)));
    renderer.on("clickStage", () => { isPicked = false; choose(null); });
    renderer.on("enterNode", ({ node }) => {
      map.classList.add("over");
      if (words.explain && !isPicked) isLight ? choose(node, false) : show(node);
    });
    renderer.on("leaveNode", () => {
      map.classList.remove("over");
      if (words.explain && !isPicked && isLight) choose(null);
    });
    document.getElementById("whole").addEventListener("click", () => {
      isPicked = false;
      choose(null);
      renderer.getCamera().animatedReset({ duration: 300 });
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      readColours();
      renderer.setSetting("labelColor", { color: page.ink });
    });
  }

  const search = document.getElementById("search");
  const found = document.getElementById("found");
  search.addEventListener("input", () => {
    const text = search.value.trim().toLowerCase();
    found.replaceChildren();
    if (!text) return;
    let left = 20;
    graph.forEachNode((node, of) => {
      if (left === 0 || !`${of.url} ${of.title}`.toLowerCase().includes(text)) return;
      left -= 1;
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = of.title ? `${of.label} — ${of.title}` : of.label;
      button.addEventListener("click", () => {
        found.replaceChildren();
        search.focus();
        isPicked = true;
        choose(node, true);
      });
      item.append(button);
      found.append(item);
    });
    if (left === 20) {
      const item = document.createElement("li");
      item.textContent = words.nothing;
      found.append(item);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    found.replaceChildren();
    isPicked = false;
    choose(null);
  });
  map.dataset.ready = "1";
}
