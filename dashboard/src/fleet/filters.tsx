import { useComputed } from "@preact/signals";

import { projects } from "../live/upstream";
import { texts } from "../texts";
import { brief } from "../ui/foreign";
import { ColumnsMenu, ViewsMenu } from "./menus";
import { change, clearFilters, isFiltered, query, troubleAges, type SortKey, type TroubleAge } from "./query";
import { members, rows } from "./rows";
import { Search } from "./search";

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
