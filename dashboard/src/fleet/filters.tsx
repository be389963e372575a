import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { projects } from "../live/upstream";
import { texts } from "../texts";
import { brief } from "../ui/foreign";
import { ColumnsMenu, ViewsMenu } from "./menus";
import { change, clearFilters, isFiltered, query, troubleAges, typed, type SortKey, type TroubleAge } from "./query";
import { members, rows } from "./rows";

const sorts: SortKey[] = ["name", "trouble", "phase", "health", "version", "expires", "changed"];
const troubles = ["", ...Object.keys(troubleAges)] as (TroubleAge | "")[];

/** Names of projects: those that the server lists, and those of known clusters. */
function useProjects(): string[] {
  return useComputed(() => {
    void members.value;
    const names = new Set(projects.value.map((project) => project.name));
    for (const row of rows.values()) names.add(row.project);
    return [...names].sort();
  }).value;
}

/** The rows follow in a task of their own, so that no task is long with many clusters. */
function Search() {
  const soon = useRef(0);
  const type = (q: string) => {
    const place = location.hash;
    typed.value = q;
    clearTimeout(soon.current);
    soon.current = window.setTimeout(() => {
      if (location.hash === place) change({});
      else typed.value = null; // the user has followed a link, or another change has taken the text along
    });
  };
  useEffect(() => () => (clearTimeout(soon.current), void (typed.value = null)), []);
  return (
    <label class="grow">
      <span>{texts.filter.search}</span>
      <input type="search" value={typed.value ?? query.value.q} spellcheck={false} autocapitalize="off" placeholder={texts.filter.example}
        onInput={(event) => type(event.currentTarget.value)} />
    </label>
  );
}

export function Filters() {
  const asked = query.value;
  const names = useProjects();
  const troubleFirst = asked.sort === "trouble" && !asked.reverse;
  return (
    <div class="filters" role="search" aria-label={texts.filter.label}>
      <Search />
      <label>
        <span>{texts.filter.project}</span>
        <select value={asked.project} onChange={(event) => change({ project: event.currentTarget.value })}>
          <option value="">{texts.filter.allProjects}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {brief(name)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{texts.filter.trouble}</span>
        <select value={asked.trouble} onChange={(event) => change({ trouble: event.currentTarget.value as TroubleAge | "" })}>
          {troubles.map((age) => (
            <option key={age} value={age}>
              {texts.filter.troubleFor[age]}
            </option>
          ))}
        </select>
      </label>
      <label class="beside-buttons">
        <span>{texts.filter.sort}</span>
        <select value={asked.sort} onChange={(event) => change({ sort: event.currentTarget.value as SortKey, reverse: false })}>
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              {texts.sort[sort]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" aria-pressed={troubleFirst} onClick={() => change({ sort: troubleFirst ? "name" : "trouble", reverse: false })}>
        {texts.filter.troubleFirst}
      </button>
      <ViewsMenu />
      <ColumnsMenu />
      {isFiltered(asked) && (
        <button type="button" onClick={clearFilters}>
          {texts.fleet.clear}
        </button>
      )}
    </div>
  );
}
