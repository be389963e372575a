// Each phase has one colour, one shape and its word (docs/dashboard.md); each of the three identifies the phase. The long table shows many of
// them, and calls functions: each component takes a browser time and memory.
import type { ComponentChildren } from "preact";

import { texts } from "../texts";
import type { Health, Phase } from "../types";
import { wordIn } from "./foreign";

/** Paths in a square of 16; `fill` is closed and filled, `mark` is drawn over it. */
type Shape = { fill?: string; line?: string; mark?: string };

const circle = "M8 1.5a6.5 6.5 0 100 13 6.5 6.5 0 000-13z";
const moon = "M10.5 1.7a6.5 6.5 0 103.8 8.7 5.2 5.2 0 01-3.8-8.7z";

const phases: Record<Phase, Shape> = {
  pending: { line: circle, mark: "M8 4.5v3.7l2.3 1.4" },
  creating: { line: circle, mark: "M8 4.8v6.4M4.8 8h6.4" },
  ready: { fill: circle, mark: "M4.9 8.3l2.1 2.1 4.1-4.5" },
  degraded: { fill: "M8 1.3l7 12.9H1z", mark: "M8 6v4M8 12.1v.1" },
  updating: { line: "M8 14.2V2.8M3.2 7.2L8 2.4l4.8 4.8" },
  hibernating: { line: moon },
  hibernated: { fill: moon },
  waking: { fill: "M3.5 12a4.5 4.5 0 019 0z", line: "M1 12h14M8 2.2v2.6M2.8 4.8l1.6 1.6M13.2 4.8l-1.6 1.6" },
  retrying: { line: "M13.8 8a5.8 5.8 0 11-1.9-4.3M12.6 1v3.2H9.4" },
  failed: { fill: "M5.2 1.3h5.6l3.9 3.9v5.6l-3.9 3.9H5.2l-3.9-3.9V5.2z", mark: "M5.5 5.5l5 5M10.5 5.5l-5 5" },
  deleting: { line: "M2.5 4.3h11M6 4.3V2.2h4v2.1M4 4.3l.7 9.5h6.6l.7-9.5" },
  unknown: { line: "M8 1.2L14.8 8 8 14.8 1.2 8z", mark: "M6.3 6.5a1.8 1.8 0 113 1.3c-.8.5-1.2.8-1.2 1.5M8.1 11.3v.1" },
};

const healths: Record<Health, Shape> = {
  healthy: { fill: "M8 14C4 11 1.5 8.5 1.5 5.5a3.3 3.3 0 016.5-1 3.3 3.3 0 016.5 1C14.5 8.5 12 11 8 14z" },
  progressing: { line: "M8 14C4 11 1.5 8.5 1.5 5.5a3.3 3.3 0 016.5-1 3.3 3.3 0 016.5 1C14.5 8.5 12 11 8 14z" },
  unhealthy: { fill: "M8 14C4 11 1.5 8.5 1.5 5.5a3.3 3.3 0 016.5-1 3.3 3.3 0 016.5 1C14.5 8.5 12 11 8 14z", mark: "M8.6 4.5L6.6 7.5h2.8L7.4 11" },
  unknown: { line: "M1.5 8h13", mark: "" },
};

function icon(shape: Shape, kind: string) {
  return (
    <svg class={`icon ${kind}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {shape.fill && <path class="icon-fill" d={shape.fill} />}
      {shape.line && <path class="icon-line" d={shape.line} />}
      {shape.mark && <path class={shape.fill ? "icon-mark" : "icon-line"} d={shape.mark} />}
    </svg>
  );
}

// A phase that this page does not know is shown by its word, with the shape of `unknown`.

export function PhaseIcon({ phase }: { phase: Phase }) {
  return icon(phases[phase] ?? phases.unknown, `phase-${phases[phase] ? phase : "unknown"}`);
}

/** The icon and the word, as the only children of an element; "state" in the style sheet places them. */
export function phaseWord(phase: Phase, progress: number | null): ComponentChildren[] {
  return [PhaseIcon({ phase }), wordIn(texts.phase, phase), progress !== null && <span class="state-progress">{texts.percent(progress)}</span>];
}

export function HealthIcon({ health }: { health: Health }) {
  return icon(healths[health] ?? healths.unknown, `health-${healths[health] ? health : "unknown"}`);
}

/** The icon and the word, as the only children of an element; "state" in the style sheet places them. */
export const healthWord = (health: Health): ComponentChildren[] => [HealthIcon({ health }), wordIn(texts.health, health)];

const severities: Record<"critical" | "warning" | "info", { shape: Shape; kind: string }> = {
  critical: { shape: phases.failed, kind: "phase-failed" },
  warning: { shape: phases.degraded, kind: "phase-degraded" },
  info: { shape: { line: circle, mark: "M8 7.3v4M8 4.7v.1" }, kind: "phase-creating" },
};

export function SeverityIcon({ severity }: { severity: "critical" | "warning" | "info" }) {
  const { shape, kind } = severities[severity] ?? severities.info;
  return icon(shape, kind);
}
