// What the panel does in the browser besides following links. Parts of pages that are live wait for the event "refresh".

const EVERY_MS = 2000;

const refresh = () => document.body.dispatchEvent(new Event("refresh"));

setInterval(() => document.hidden || refresh(), EVERY_MS);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-refresh]")) return;
  event.preventDefault();
  refresh();
});

// A search that has found nothing yet goes on by itself.
const next = document.querySelector("a[data-goes-on]");
if (next) location.replace(next.href);
