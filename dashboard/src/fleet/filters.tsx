import { useComputed } from "@preact/signals";

import { projects } from "../live/upstream";
import { texts } from "../texts";
import { brief } from "../ui/foreign";
import { ColumnsMenu, ViewsMenu } from "./menus";
import { change, clearFilters, isFiltered, query, type SortKey } from "./query";
import { members, rows } from "./rows";

const sorts: SortKey[] = ["name", "trouble", "phase", "health", "version", "expires", "changed"];

/** Names of projects: those that the server lists, and those of known clusters. */
function useProjects(): string[] {
  return useComputed(() => {
    void members.value;
    const names = new Set(projects.value.map((project) => project.name));
    for (const row of rows.values()) names.add(row.project);
    return [...names].sort();
  }).value;
}

export function Filters() {
  const asked = query.value;
  const names = useProjects();
  const troubleFirst = asked.sort === "trouble" && !asked.reverse;
  return (
    <div class="filters" role="search" aria-label={texts.filter.label}>
      <label class="grow">
        <span>{texts.filter.search}</span>
        <input type="search" value={asked.q} spellcheck={false} autocapitalize="off" placeholder={texts.filter.example}
          onInput={(event) => change({ q: event.currentTarget.value })} />
      </label>
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
