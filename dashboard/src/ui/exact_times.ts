// The only tooltip of the page. It shows the exact time for the element under the pointer or the focus, whose `data-exact` has the time in
// ms. It stays while the pointer is on it, and Escape closes it (WCAG 1.4.13).
import { effect } from "@preact/signals";

import { exact, exactTimes } from "./time";

const DELAY_MS = 120;
const GAP = 6;

export function startExactTimes() {
  // Exact times need wider columns.
  effect(() => void document.documentElement.toggleAttribute("data-exact-times", exactTimes.value));
  const tip = document.createElement("div");
  tip.id = "exact-time";
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let shownFor: HTMLElement | null = null;
  let leaving = 0;

  const hide = () => {
    clearTimeout(leaving);
    changes.disconnect();
    shownFor?.removeAttribute("aria-describedby");
    shownFor = null;
    tip.hidden = true;
  };
  /** Places the tooltip beside its element, also after a scroll; it is hidden when the element was removed. */
  const place = () => {
    if (!shownFor) return;
    if (!shownFor.isConnected) return hide();
    const box = shownFor.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const below = box.bottom + GAP + own.height < innerHeight;
    tip.style.left = `${Math.max(GAP, Math.min(box.left, innerWidth - own.width - GAP))}px`;
    tip.style.top = `${below ? box.bottom + GAP : box.top - GAP - own.height}px`;
  };
  const say = () => {
    if (shownFor) tip.textContent = exact(new Date(Number(shownFor.dataset.exact)));
    place();
  };
  /** An element of the table may get another row. */
  const changes = new MutationObserver((records) => (records.some((one) => one.attributeName === "data-key") ? hide() : say()));
  const show = (target: HTMLElement) => {
    clearTimeout(leaving);
    if (shownFor === target) return;
    hide();
    shownFor = target;
    changes.observe(target, { attributeFilter: ["data-exact"] });
    const row = target.closest("[data-key]");
    if (row) changes.observe(row, { attributeFilter: ["data-key"] });
    tip.hidden = false;
    target.setAttribute("aria-describedby", tip.id);
    say();
  };
  const targetOf = (event: globalThis.Event) => (event.target as Element | null)?.closest?.<HTMLElement>("[data-exact]") ?? null;
  const leave = () => {
    clearTimeout(leaving);
    leaving = window.setTimeout(hide, DELAY_MS);
  };

  document.addEventListener("pointerover", (event) => {
    const target = targetOf(event);
    if (target) show(target);
    else if (event.target === tip) clearTimeout(leaving);
    else if (shownFor && document.activeElement !== shownFor) leave();
  });
  document.addEventListener("focusin", (event) => {
    const target = targetOf(event);
    if (target) show(target);
    else hide();
  });
  document.addEventListener("focusout", leave);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", place, { capture: true, passive: true });
}
