// A live list stands still while the pointer or the focus is in it: its members change in place, and a button shows the new order.
import { useRef, useState } from "preact/hooks";

/** Whether `next` has the same members in the same order. */
export const sameKeys = (now: string[], next: string[]) => now.length === next.length && now.every((key, i) => key === next[i]);

/** `shown` with what its members are by now; one that is gone stays. What follows below its last member is added: that moves nothing. */
export function inPlace<T>(shown: T[], items: T[], keyOf: (item: T) => string): T[] {
  const now = new Map(items.map((item) => [keyOf(item), item]));
  const keys = shown.map(keyOf);
  const end = items.findIndex((item) => keyOf(item) === keys.at(-1));
  const below = end < 0 ? [] : items.slice(end + 1).filter((item) => !keys.includes(keyOf(item)));
  return [...shown.map((item, i) => now.get(keys[i] ?? "") ?? item), ...below];
}

/** Another question of the viewer (`asked`) is answered at once. `hold`: it stands still whatever is in it. */
export function useStill<T>(items: T[], keyOf: (item: T) => string, asked: string, hold = false) {
  const [inside, setInside] = useState(false);
  const [, redraw] = useState(0);
  const pointer = useRef(false), focus = useRef(false);
  const last = useRef({ asked, items });
  const held = inside || hold;
  if (!held || last.current.asked !== asked || !last.current.items.length) {
    last.current = { asked, items };
  } else {
    last.current.items = inPlace(last.current.items, items, keyOf);
  }
  const shown = last.current.items;
  const update = () => setInside(pointer.current || focus.current);
  return {
    items: shown,
    differs: held && !sameKeys(shown.map(keyOf), items.map(keyOf)),
    apply: () => {
      last.current = { asked, items };
      redraw((n) => n + 1);
    },
    /** For the element around the list. */
    area: {
      onPointerEnter: () => ((pointer.current = true), update()),
      onPointerLeave: () => ((pointer.current = false), update()),
      onFocusIn: () => ((focus.current = true), update()),
      onFocusOut: (event: FocusEvent) => {
        if ((event.currentTarget as Element).contains(event.relatedTarget as Node | null)) return;
        focus.current = false;
        update();
      },
    },
  };
}
