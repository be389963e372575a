// A menu that opens below its label.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

type Props = { label: ComponentChildren; kind: string; onToggle?: (isOpen: boolean) => void; children: ComponentChildren };

/** Escape closes the menu, and so does a move of the focus to another element. */
export function Menu({ label, kind, onToggle, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (!box.current?.open) return;
    box.current.open = false;
    box.current.querySelector("summary")?.focus();
  };
  return (
    <details class={`menu ${kind}`} ref={box} onKeyDown={(event) => event.key === "Escape" && close()}
      onToggle={(event) => onToggle?.(event.currentTarget.open)}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !event.currentTarget.contains(next)) event.currentTarget.open = false;
      }}>
      <summary>{label}</summary>
      <div class="menu-body panel">{children}</div>
    </details>
  );
}
