// The number of clusters by phase, health and version; each count is a filter. Until all clusters are there, the server counts. Counts of zero
// are shown, too, so that a chip keeps its place when other counts change.
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { now } from "../live/life";
import { texts } from "../texts";
import type { ClusterCounts, Health, Phase } from "../types";
import { brief, wordOf } from "../ui/foreign";
import { HealthIcon, PhaseIcon } from "../ui/phase";
import { counted } from "./first";
import { change, expiries, hasMark, query, toggled, type Mark } from "./query";
import { load, revision, rows } from "./rows";

const phaseOrder: Phase[] = ["failed", "degraded", "retrying", "unknown", "pending", "creating", "updating", "hibernating", "hibernated", "waking", "deleting", "ready"];
const healthOrder: Health[] = ["unhealthy", "unknown", "progressing", "healthy"];
const marks: Mark[] = ["expired", "expiring", "drifted", "stale", "unmanaged"];
/** More versions than are ever supported at one time. The bound is for odd answers of Cleura. */
const mostVersions = 12;

type Counts = { phase: Map<Phase, number>; health: Map<Health, number>; version: Map<string, number>; mark: Map<Mark, number> };

function count(): Counts {
  const counts: Counts = { phase: new Map(), health: new Map(), version: new Map(), mark: new Map() };
  const add = <T,>(map: Map<T, number>, key: T) => map.set(key, (map.get(key) ?? 0) + 1);
  const present = now.peek();
  for (const row of rows.values()) {
    add(counts.phase, row.status.phase);
    add(counts.health, row.status.health);
    add(counts.version, row.minor);
    for (const mark of marks) if (hasMark(row, mark, present)) add(counts.mark, mark);
  }
  return counts;
}

/** The same counts, from the server. */
export function countsOf(all: ClusterCounts): Counts {
  const some = <T extends string>(counts: Record<string, number>) => new Map(Object.entries(counts).filter(([, n]) => n > 0)) as Map<T, number>;
  const { expired, expiring_30d: expiring, drifted, stale, unmanaged } = all;
  return { phase: some(all.by_phase), health: some(all.by_health), version: some(all.by_kubernetes_version), mark: some({ expired, expiring, drifted, stale, unmanaged }) };
}

const countNow = () => (counted.value && load.value.state !== "loaded" ? countsOf(counted.value) : count());

type ChipProps = { pressed: boolean; count: number; onClick: () => void; children: ComponentChildren };

function Chip({ pressed, count, onClick, children }: ChipProps) {
  return (
    <button type="button" class={count || pressed ? "chip" : "chip zero"} aria-pressed={pressed} onClick={onClick}>
      {children}
      <span class="chip-count">{texts.number(count)}</span>
    </button>
  );
}

function Group({ label, kind, children }: { label: string; kind: string; children: ComponentChildren }) {
  return (
    <div class={`totals-group of-${kind}`} role="group" aria-label={label}>
      <span class="totals-label" aria-hidden="true">
        {label}
      </span>
      <div class="chips">{children}</div>
    </div>
  );
}

/** All known values, and unknown ones that exist or that the filter names. */
const all = <T,>(order: T[], map: Map<T, number>, asked: T[]) => [...new Set([...order, ...map.keys(), ...asked])];

export function Totals() {
  const counts = useComputed(() => (revision.value, expiries.value, countNow())).value;
  const asked = query.value;
  const versions = [...new Set([...counts.version.keys(), ...asked.version])].sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return (
    <section class="totals panel" aria-label={texts.totals.label}>
      <Group label={texts.totals.phase} kind="phase">
        {all(phaseOrder, counts.phase, asked.phase).map((phase) => (
          <Chip key={phase} pressed={asked.phase.includes(phase)} count={counts.phase.get(phase) ?? 0}
            onClick={() => change({ phase: toggled(asked.phase, phase) })}>
            <PhaseIcon phase={phase} />
            {wordOf(texts.phase, phase)}
          </Chip>
        ))}
      </Group>
      <Group label={texts.totals.health} kind="health">
        {all(healthOrder, counts.health, asked.health).map((health) => (
          <Chip key={health} pressed={asked.health.includes(health)} count={counts.health.get(health) ?? 0}
            onClick={() => change({ health: toggled(asked.health, health) })}>
            <HealthIcon health={health} />
            {wordOf(texts.health, health)}
          </Chip>
        ))}
      </Group>
      <Group label={texts.totals.mark} kind="mark">
        {marks.map((mark) => (
          <Chip key={mark} pressed={asked.mark.includes(mark)} count={counts.mark.get(mark) ?? 0}
            onClick={() => change({ mark: toggled(asked.mark, mark) })}>
            {texts.mark[mark]}
          </Chip>
        ))}
      </Group>
      <Group label={texts.totals.version} kind="version">
        {versions.filter((version, i) => i < mostVersions || asked.version.includes(version)).map((version) => (
          <Chip key={version} pressed={asked.version.includes(version)} count={counts.version.get(version) ?? 0}
            onClick={() => change({ version: toggled(asked.version, version) })}>
            <span class="mono foreign">{brief(version)}</span>
          </Chip>
        ))}
      </Group>
    </section>
  );
}
