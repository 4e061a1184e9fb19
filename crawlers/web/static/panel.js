// What the panel does in the browser besides following links. Parts of pages that are live wait for the event "refresh".

const EVERY_MS = 2000;

const refresh = () => document.body.dispatchEvent(new Event("refresh"));

setInterval(() => document.hidden || refresh(), EVERY_MS);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-refresh]")) return;
  event.preventDefault();
  refresh();
});

// The box in the head of a table chooses all rows that are shown.
document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-choose-all]");
  const boxes = [...(event.target.closest("table")?.querySelectorAll("input[name=row]") ?? [])];
  const head = event.target.closest("table")?.querySelector("[data-choose-all]");
  if (!head || !boxes.length) return;
  if (all) for (const box of boxes) box.checked = all.checked;
  const chosen = boxes.filter((box) => box.checked).length;
  head.checked = chosen === boxes.length;
  head.indeterminate = chosen > 0 && chosen < boxes.length;
});

// On a phone the tabs are one line, which begins where the reader is.
for (const here of document.querySelectorAll(".tabs [aria-current]")) {
  const [tab, tabs] = [here, here.parentElement].map((one) => one.getBoundingClientRect());
  here.parentElement.scrollLeft += tab.left + tab.width / 2 - tabs.left - tabs.width / 2;
}

// Logs are read from their end.
for (const log of document.querySelectorAll("[data-end]")) log.scrollTop = log.scrollHeight;
