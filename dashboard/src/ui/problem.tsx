import { useEffect } from "preact/hooks";

import { announceProblem, unanswered } from "../live/announce";
import { texts } from "../texts";
import type { Problem } from "../types";
import { Foreign } from "./foreign";
import { SeverityIcon } from "./phase";

/** Announces the problem once, or counts it: when no server answers, the summary for screen readers says so, once for all of the page. */
function useSpoken(problem: Problem | null, isAlone: boolean, goesAway: boolean) {
  const title = problem?.title ?? null;
  useEffect(() => {
    if (!isAlone) return;
    if (title !== null || !goesAway) return announceProblem(title ?? texts.problem.away);
    unanswered.value++;
    return () => void unanswered.value--;
  }, [title, isAlone, goesAway]);
}

/**
 * The reason why something cannot be shown, and the action to take; `null`: no server answered. `again` reads once more; a notice with it
 * goes away by itself when the server answers. `inside`: the notice belongs to something that is read as a whole.
 */
export function ProblemNotice({ problem, again, inside = false }: { problem: Problem | null; again?: () => void; inside?: boolean }) {
  useSpoken(problem, !inside, again !== undefined);
  return (
    <div class="notice bad panel" role="group" aria-label={texts.problem.label}>
      <SeverityIcon severity="critical" />
      <div>
        <p>
          <b>{problem ? <Foreign text={problem.title} /> : texts.problem.away}</b>
        </p>
        {problem?.detail && <p><Foreign text={problem.detail} /></p>}
        {problem?.advice && <p><Foreign text={problem.advice} /></p>}
        {again && (
          <button type="button" onClick={again}>
            {texts.problem.again}
          </button>
        )}
      </div>
    </div>
  );
}
