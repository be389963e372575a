// When a control is removed that has the focus, such as a button that has done its work, the focus moves to a place nearby. Otherwise the
// document would have it, and a screen reader would lose its place.

/** Places that can take the focus: lists, tables and headings, tables that scroll, and the fields of filters. */
const PLACES = '[tabindex="-1"], [role="region"][tabindex], input, select';

/** Whether only the page itself moves the focus to this element. It holds no list: the user is not at one of its rows. */
export const isPlace = (target: EventTarget | null) => (target as Element | null)?.getAttribute("tabindex") === "-1";

/** The element with the focus, and the elements around it, up to the content of the page or the whole page. */
function chainOf(target: Element, root: Element): Element[] {
  const end = target.closest("main") ?? root;
  const chain: Element[] = [];
  for (let at: Element | null = target; at && end.contains(at); at = at.parentElement) chain.push(at);
  return chain;
}

const isUsable = (one: Element): one is HTMLElement => one instanceof HTMLElement && one.checkVisibility();

/** The first place in this element, which may be one itself. From outside of the content, it is the heading of the page. */
function placeIn(around: Element, root: Element): HTMLElement | undefined {
  if (around === root) return root.querySelector<HTMLElement>('main h1[tabindex="-1"]') ?? undefined;
  return [around, ...around.querySelectorAll(PLACES)].filter((one) => one.matches(PLACES)).find(isUsable);
}

export function startFocus(root: Element) {
  let chain: Element[] = [];
  const isLost = () => document.activeElement === document.body || document.activeElement === null;

  function keep() {
    const [last, ...around] = chain;
    if (!last || last.isConnected || !isLost()) return;
    chain = [];
    for (const one of around) {
      const place = one.isConnected ? placeIn(one, root) : undefined;
      if (place) return place.focus({ preventScroll: true });
    }
  }

  document.addEventListener("focusin", ({ target }) => (chain = target instanceof Element ? chainOf(target, root) : []));
  // The user has left the element, for example by a click beside it. A browser may send this event for a removed element, too.
  document.addEventListener("focusout", () => queueMicrotask(() => chain[0]?.isConnected && isLost() && (chain = [])));
  new MutationObserver(keep).observe(root, { childList: true, subtree: true });
}
