import { texts } from "../texts";
import type { Operation } from "../types";
import { isOpen, OperationDetails } from "../ui/operation";

export function OperationPanel({ operation, usual }: { operation: Operation | null; usual: number | null }) {
  const heading = isOpen(operation) ? texts.operation.running : texts.operation.last;
  return (
    <section class="panel" aria-labelledby="operation-heading">
      <h2 id="operation-heading">{heading}</h2>
      {operation ? <OperationDetails operation={operation} usual={usual} /> : <p class="quiet">{texts.operation.none}</p>}
    </section>
  );
}
