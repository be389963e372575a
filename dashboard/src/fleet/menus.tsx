// Two menus beside the filters: views, and the columns of the table.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { announce } from "../live/announce";
import { fleetLink, placeQuery } from "../router";
import { texts } from "../texts";
import { visible } from "../ui/foreign";
import { choices, hidden, removeView, saveView, toggleColumn, views } from "./kept";

/** Escape closes the menu, and so does a move of the focus to another element. */
function Menu({ label, kind, children }: { label: string; kind: string; children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (!box.current?.open) return;
    box.current.open = false;
    box.current.querySelector("summary")?.focus();
  };
  return (
    <details class={`menu ${kind}`} ref={box} onKeyDown={(event) => event.key === "Escape" && close()}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !event.currentTarget.contains(next)) event.currentTarget.open = false;
      }}>
      <summary>{label}</summary>
      <div class="menu-body panel">{children}</div>
    </details>
  );
}

export function ColumnsMenu() {
  return (
    <Menu label={texts.columns.label} kind="columns-menu">
      <fieldset>
        <legend class="quiet">{texts.columns.legend}</legend>
        {choices.map((key) => (
          <label key={key} class="check">
            <input type="checkbox" checked={!hidden.value.includes(key)} onChange={() => toggleColumn(key)} />
            <span>{texts.column[key]}</span>
          </label>
        ))}
      </fieldset>
    </Menu>
  );
}

export function ViewsMenu() {
  const [name, setName] = useState("");
  const field = useRef<HTMLInputElement>(null);
  function save(event: SubmitEvent) {
    event.preventDefault();
    const given = name.trim();
    if (!given) return field.current?.focus();
    saveView(given, String(placeQuery.peek()));
    setName("");
    announce(texts.views.saved(given));
  }
  return (
    <Menu label={texts.views.label} kind="views-menu">
      {views.value.length ? (
        <ul class="plain">
          {views.value.map((view) => (
            <li key={view.name} class="view">
              <a href={fleetLink(new URLSearchParams(view.query))}>{visible(view.name)}</a>
              <button type="button" aria-label={texts.views.remove(visible(view.name))} onClick={() => (removeView(view.name), field.current?.focus())}>
                {texts.views.removeShort}
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <p class="quiet">{texts.views.none}</p>
      )}
      <form class="view-form" onSubmit={save}>
        <label>
          <span>{texts.views.name}</span>
          <input ref={field} value={name} maxLength={60} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit">{texts.views.save}</button>
      </form>
    </Menu>
  );
}
