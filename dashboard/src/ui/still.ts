// A live list does not change its order while the pointer or the focus is in it: its members change in place, and a button offers the new
// order.
import { useRef, useState } from "preact/hooks";

import { isPlace } from "./focus";

/** Whether `next` has the same members in the same order. */
export const sameKeys = (now: string[], next: string[]) => now.length === next.length && now.every((key, i) => key === next[i]);

/**
 * Returns `shown` with the current data of its members; removed members stay. Members that follow below the last one are added, because
 * that moves no other member.
 */
export function inPlace<T>(shown: T[], items: T[], keyOf: (item: T) => string): T[] {
  const now = new Map(items.map((item) => [keyOf(item), item]));
  const keys = shown.map(keyOf);
  const end = items.findIndex((item) => keyOf(item) === keys.at(-1));
  const below = end < 0 ? [] : items.slice(end + 1).filter((item) => !keys.includes(keyOf(item)));
  return [...shown.map((item, i) => now.get(keys[i] ?? "") ?? item), ...below];
}

/** A new filter of the user (`asked`) is applied at once. `hold`: the order is kept in any case. */
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
      onFocusIn: (event: FocusEvent) => ((focus.current = !isPlace(event.target)), update()),
      onFocusOut: (event: FocusEvent) => {
        if ((event.currentTarget as Element).contains(event.relatedTarget as Node | null)) return;
        focus.current = false;
        update();
      },
    },
  };
}
