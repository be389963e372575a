// The filters of a page in its address: a row of fields, each with the name of its query parameter.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { projects } from "../live/upstream";
import { changeQuery, placeQuery } from "../router";
import { texts } from "../texts";
import { brief } from "./foreign";

/** A list of options, or without `options` a text field. */
export type Field = { name: string; label: string; options?: [value: string, label: string][]; example?: string };

export const optionsOf = (words: Record<string, string>): [string, string][] => [["", texts.filter.all], ...Object.entries(words)];

export const projectField = (): Field => ({
  name: "project",
  label: texts.filter.project,
  options: [["", texts.filter.allProjects], ...projects.value.map((one): [string, string] => [one.name, one.name])],
});

/**
 * A typed value is applied when it is complete (Enter, or the focus leaves the field). Updates of the page do not change the field
 * meanwhile.
 */
function TextField({ field, value }: { field: Field; value: string }) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input type="search" spellcheck={false} autocapitalize="off" placeholder={field.example} value={draft ?? value}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => (changeQuery({ [field.name]: event.currentTarget.value.trim() }), setDraft(null))} />
  );
}

/** A value from a typed address is shown as an option, too, because it is applied. */
function optionsWith(field: Field, value: string) {
  const options = field.options ?? [];
  return options.some(([one]) => one === value) ? options : [...options, [value, value] as [string, string]];
}

export function QueryFilters({ fields, children }: { fields: Field[]; children?: ComponentChildren }) {
  const asked = placeQuery.value;
  const set = fields.filter((field) => asked.get(field.name));
  return (
    <div class="filters" role="search" aria-label={texts.filter.label}>
      {fields.map((field) => {
        const value = asked.get(field.name) ?? "";
        return (
          <label key={field.name} class={field.options ? "" : "text"}>
            <span>{field.label}</span>
            {field.options ? (
              <select value={value} onChange={(event) => changeQuery({ [field.name]: event.currentTarget.value })}>
                {optionsWith(field, value).map(([one, label]) => (
                  <option key={one} value={one}>
                    {brief(label)}
                  </option>
                ))}
              </select>
            ) : (
              <TextField field={field} value={value} />
            )}
          </label>
        );
      })}
      {children}
      {set.length > 0 && (
        <button type="button" onClick={() => changeQuery(Object.fromEntries(fields.map((field) => [field.name, ""])))}>
          {texts.fleet.clear}
        </button>
      )}
    </div>
  );
}
