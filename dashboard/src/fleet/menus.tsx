// Two menus beside the filters: views, and the columns of the table.
import { useRef, useState } from "preact/hooks";

import { announce } from "../live/announce";
import { fleetLink, placeQuery } from "../router";
import { texts } from "../texts";
import { visible } from "../ui/foreign";
import { Menu } from "../ui/menu";
import { hidden, toggleColumn, withColumns } from "./columns";
import { choices, removeView, saveView, views } from "./kept";

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
    saveView(given, String(withColumns(placeQuery.peek())));
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
