import { texts } from "../texts";
import type { Problem } from "../types";
import { Foreign } from "./foreign";
import { SeverityIcon } from "./phase";

/** The reason why something cannot be shown, and the action to take; `null`: no server answered. */
export function ProblemNotice({ problem, again }: { problem: Problem | null; again?: () => void }) {
  return (
    <div class="notice bad panel" role="group" aria-label={texts.problem.label}>
      <SeverityIcon severity="critical" />
      <div>
        <p>
          <b>{problem ? problem.title : texts.problem.away}</b>
        </p>
        {problem?.detail && <p><Foreign text={problem.detail} /></p>}
        {problem?.advice && <p>{problem.advice}</p>}
        {again && (
          <button type="button" onClick={again}>
            {texts.problem.again}
          </button>
        )}
      </div>
    </div>
  );
}
