// Shows a graph: search, details of a chosen node, its neighbours. Texts of strangers are only ever textContent.
"use strict";
{
  const data = JSON.parse(document.getElementById("graph").textContent);
  const words = document.body.dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const scale = Math.max(0.45, Math.min(1, Math.sqrt(1500 / data.nodes.length)));
  const graph = new graphology.DirectedGraph();
  data.nodes.forEach(([label, title, level, inDegree, outDegree, x, y, size, color], place) =>
    graph.addNode(place, { label: label.replace(/^https?:\/\/[^/]+(?=\/)/, "") || label, url: label, title, level, inDegree, outDegree, x, y, size: (2 + size / 5) * scale, color }));
  data.edges.forEach(([source, target]) => graph.mergeDirectedEdge(source, target, { size: 0.5 }));

  let chosen = null;
  let near = new Set();
  const faint = () => (dark.matches ? "#2b3331" : "#dfe3e1");
  // Mixed with the ground and not transparent: sigma adds transparent colours to a light ground, which makes them white.
  const share = Math.max(0.2, Math.min(0.5, 3000 / data.edges.length));
  const pale = (color) => {
    const ground = dark.matches ? [22, 27, 26] : [255, 255, 255];
    const mixed = ground.map((part, at) => Math.round(part + share * (parseInt(color.slice(1 + 2 * at, 3 + 2 * at), 16) - part)));
    return `rgb(${mixed.join(",")})`;
  };
  const renderer = new Sigma(graph, document.getElementById("map"), {
    labelColor: { color: dark.matches ? "#e6ebe9" : "#1c2422" },
    labelFont: "system-ui, sans-serif", labelSize: 12, labelRenderedSizeThreshold: 5.5 * scale, labelDensity: 0.25,
    minEdgeThickness: 1.1, minCameraRatio: 0.02, maxCameraRatio: 3, hideEdgesOnMove: data.edges.length > 20000, zIndex: true,
    defaultDrawNodeHover: drawHover,
    nodeReducer: (node, of) => {
      if (chosen === null) return of;
      if (node === chosen) return { ...of, highlighted: true, forceLabel: true, zIndex: 2 };
      return near.has(node) ? { ...of, forceLabel: near.size < 30, zIndex: 1 } : { ...of, color: faint(), label: "", zIndex: 0 };
    },
    edgeReducer: (edge, of) => {
      const color = graph.getNodeAttribute(graph.source(edge), "color");
      if (chosen === null) return { ...of, color: pale(color) };
      return { ...of, hidden: !graph.hasExtremity(edge, chosen), color, size: 1 };
    },
  });

  function drawHover(context, node, settings) {
    if (!node.label) return;
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    const width = context.measureText(node.label).width;
    context.fillStyle = dark.matches ? "#26302d" : "#ffffff";
    context.strokeStyle = dark.matches ? "#63c2ac" : "#1f6f60";
    context.beginPath();
    context.roundRect(node.x + node.size + 1, node.y - 10, width + 9, 20, 4);
    context.fill();
    context.stroke();
    context.beginPath();
    context.arc(node.x, node.y, node.size + 1.5, 0, 2 * Math.PI);
    context.stroke();
    context.fillStyle = dark.matches ? "#e6ebe9" : "#1c2422";
    context.fillText(node.label, node.x + node.size + 5, node.y + settings.labelSize / 3);
  }

  const details = document.getElementById("details");
  function line(name, value) {
    if (value === null || value === "") return;
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = typeof value === "number" ? value.toLocaleString("en") : value;
    details.append(term, text);
  }
  function choose(node, isFar) {
    chosen = node;
    near = new Set(node === null ? [] : graph.neighbors(node));
    details.replaceChildren();
    details.hidden = node === null;
    if (node !== null) {
      const of = graph.getNodeAttributes(node);
      line(words.title, of.title);
      line(words.url, of.url);
      line(words.level, of.level);
      line(words.in, of.inDegree);
      line(words.out, of.outDegree);
      if (isFar) {
        const { x, y } = renderer.getNodeDisplayData(node);
        renderer.getCamera().animate({ x, y, ratio: Math.min(renderer.getCamera().ratio, 0.4) }, { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 400 });
      }
    }
    renderer.refresh({ skipIndexation: true });
  }
  renderer.on("clickNode", ({ node }) => choose(node, false));
  renderer.on("clickStage", () => choose(null));
  renderer.on("enterNode", () => { document.getElementById("map").className = "over"; });
  renderer.on("leaveNode", () => { document.getElementById("map").className = ""; });

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
    if (event.key === "Escape") {
      search.value = "";
      found.replaceChildren();
      choose(null);
    }
  });
  document.getElementById("whole").addEventListener("click", () => {
    choose(null);
    renderer.getCamera().animatedReset({ duration: 300 });
  });
  dark.addEventListener("change", () => {
    renderer.setSetting("labelColor", { color: dark.matches ? "#e6ebe9" : "#1c2422" });
  });
  document.body.dataset.ready = "1";
}
