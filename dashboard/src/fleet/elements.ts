// The elements of the rows of a long table, and when they may be used again for other rows.
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * The key of the element for each of these rows. A row keeps its element while it is shown. When most rows are new, these get the elements of
 * the rows that leave: a browser fills an element sooner than it makes one. An element that `isUsed` must not get another row, and a browser
 * that moves it takes the focus away, so then all new rows get new elements.
 */
export function useElements(ids: string[], isUsed: () => boolean): (id: string) => number {
  const { current: last } = useRef({ of: new Map<string, number>(), made: 0 });
  const before = last.of, stay = new Set(ids.filter((id) => before.has(id)));
  const areNew = stay.size * 2 < ids.length && !isUsed();
  const free = areNew ? [...before].filter(([id]) => !stay.has(id)).map(([, element]) => element) : [];
  last.of = new Map(ids.map((id) => [id, before.get(id) ?? free.shift() ?? last.made++]));
  return (id) => last.of.get(id)!;
}

/** Whether the user has pressed something in a row and not yet let go, or has selected text in this element. */
export function useGrip() {
  const isPressed = useRef(false);
  useLayoutEffect(() => {
    // The bar of a scroller is no part of a row, and a browser may not say when it is let go.
    const press = (event: Event) => (isPressed.current = (event.target as Element).closest("[data-key]") !== null);
    const letGo = () => setTimeout(() => (isPressed.current = false)); // the click follows
    const events = { pointerdown: press, pointerup: letGo, pointercancel: letGo };
    for (const [name, on] of Object.entries(events)) addEventListener(name, on);
    return () => {
      for (const [name, on] of Object.entries(events)) removeEventListener(name, on);
    };
  }, []);
  return (element: Element | null) => {
    const selected = getSelection();
    return isPressed.current || (selected !== null && !selected.isCollapsed && element !== null && element.contains(selected.anchorNode));
  };
}
