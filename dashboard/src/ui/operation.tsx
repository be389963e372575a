// One operation: its state, its progress, its steps and the messages of Gardener in each step.
import { now } from "../live/life";
import { texts } from "../texts";
import type { Operation, OperationStep } from "../types";
import { Foreign, wordOf } from "./foreign";
import { ProblemNotice } from "./problem";
import { clock, span, When } from "./time";

export const isOpen = (operation: Operation | null | undefined) => operation?.status === "pending" || operation?.status === "running";

/** The duration so far in ms; null when the beginning is not known. */
export function lastedOf(operation: Operation, present: number): number | null {
  const begun = Date.parse(operation.created_at ?? "");
  const ended = operation.finished_at ? Date.parse(operation.finished_at) : present;
  return Number.isFinite(begun) ? ended - begun : null;
}

export function OperationStatus({ operation }: { operation: Operation }) {
  return <span class={`tag status-${operation.status}`}>{wordOf(texts.operationStatus, operation.status)}</span>;
}

/** Pending: hollow; running: half full; done: a tick; failed: a cross. The word is beside the symbol. */
function StepMark({ status }: { status: OperationStep["status"] }) {
  const isDone = status === "done", isFailed = status === "failed", isRunning = status === "sending" || status === "waiting";
  return (
    <svg class={`step-mark ${status}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <circle class="icon-line" cx="8" cy="8" r="6" />
      {isRunning && <path class="icon-fill" d="M8 2a6 6 0 010 12z" />}
      {isDone && <path class="icon-line" d="M5 8.3l2.1 2 4-4.3" />}
      {isFailed && <path class="icon-line" d="M5.5 5.5l5 5M10.5 5.5l-5 5" />}
    </svg>
  );
}

function Step({ step, open }: { step: OperationStep; open: boolean }) {
  const messages = step.messages ?? [];
  const last = messages.at(-1);
  return (
    <li class={`step ${step.status}`}>
      <StepMark status={step.status} />
      <div>
        <p>
          <b>{wordOf(texts.step, step.type)}</b> {step.target && <Foreign mono text={step.target} />}{" "}
          <span class="quiet">{wordOf(texts.stepStatus, step.status)}</span>
          {step.running_ms != null && <span class="quiet mono"> {span(step.running_ms)}</span>}
          {step.rolls_nodes && <span class="tag drifted">{texts.operation.rolls}</span>}
        </p>
        {step.reason && <p class="quiet"><Foreign text={step.reason} /></p>}
        {open && last && <p><Foreign text={last.text} /></p>}
        {messages.length > 1 && (
          <details>
            <summary>{texts.operation.messages(messages.length)}</summary>
            <ol class="messages">
              {messages.map((message, i) => (
                <li key={i}>
                  <When at={message.at} /> <Foreign text={message.text} />
                </li>
              ))}
            </ol>
          </details>
        )}
      </div>
    </li>
  );
}

export function OperationProgress({ operation }: { operation: Operation }) {
  return (
    <span class="operation-progress">
      <progress max={100} value={operation.progress} aria-label={texts.operation.progress} />
      <span class="mono">{texts.percent(operation.progress)}</span>
    </span>
  );
}

/** The message, the reason of a failure, the steps, and the caller. `listed`: the entry of a list, which has the caller and the time already. */
export function OperationBody({ operation, listed = false }: { operation: Operation; listed?: boolean }) {
  const open = isOpen(operation);
  return (
    <>
      {operation.message && <p><Foreign text={operation.message} /></p>}
      {operation.error && (
        <ProblemNotice inside problem={{ ...operation.error, type: "", status: 0, request_id: "" }} />
      )}
      <ol class="steps">
        {operation.steps.map((step, i) => (
          <Step key={i} step={step} open={open} />
        ))}
      </ol>
      {!listed && (
        <p class="quiet">
          {operation.requested_by && <Foreign text={texts.operation.by(operation.requested_by)} />} <When at={operation.created_at} focusable />
        </p>
      )}
    </>
  );
}

/** The complete operation, for a page of its own; `usual` is the usual duration of such an operation in ms. */
export function OperationDetails({ operation, usual }: { operation: Operation; usual: number | null }) {
  const open = isOpen(operation);
  const lasted = lastedOf(operation, now.value);
  return (
    <>
      <p class="operation-line">
        <b>{wordOf(texts.operationType, operation.type)}</b> <OperationStatus operation={operation} />{" "}
        <span class="mono elapsed">{lasted === null ? "" : clock(lasted)}</span>
        {open && usual !== null && <span class="quiet"> {texts.operation.usual(span(usual))}</span>}
      </p>
      {open && <OperationProgress operation={operation} />}
      <OperationBody operation={operation} />
    </>
  );
}
