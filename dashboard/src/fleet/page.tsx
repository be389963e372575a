import { texts } from "../texts";
import { useCountSpoken } from "../ui/count_spoken";
import { PageHead } from "../ui/page_head";
import { ProblemNotice } from "../ui/problem";
import { Filters } from "./filters";
import { counted } from "./first";
import { order } from "./order";
import { clearFilters, isFiltered, query } from "./query";
import { load, revision, rows } from "./rows";
import { readAll } from "./store";
import { ClusterTable } from "./table";
import { Totals } from "./totals";

/** The number of clusters beside the heading. While only some clusters were read, the text says so. */
function countOf(size: number): string | null {
  switch (load.value.state) {
    case "loading":
      return null;
    case "partial":
      return texts.fleet.reading(size, counted.value?.total ?? null);
    case "loaded":
      return texts.fleet.count(order.shown.value.length, size);
    case "failed":
      return size ? texts.fleet.incomplete(size) : null;
  }
}

export function FleetPage() {
  void revision.value;
  const size = rows.size, areAllThere = load.value.state === "loaded", count = countOf(size);
  useCountSpoken(query.value, areAllThere && isFiltered(query.value), () => texts.fleet.count(order.shown.peek().length, rows.size));
  return (
    <>
      <PageHead heading={texts.fleet.heading} title={areAllThere ? texts.fleet.title(size) : undefined}>
        {count !== null && <p class="quiet">{count}</p>}
      </PageHead>
      <Body size={size} />
    </>
  );
}

/** The five states look different: loading, failed, empty, no match, and a list. */
function Body({ size }: { size: number }) {
  const now = load.value, areAllThere = now.state === "loaded";
  const failure = now.state === "failed" && <ProblemNotice problem={now.problem} again={() => void readAll()} />;
  if (!size) return failure || <p class="panel empty">{areAllThere ? texts.fleet.none : texts.fleet.loading}</p>;
  return (
    <>
      {failure}
      <Totals />
      <Filters />
      {order.shown.value.length || !isFiltered(query.value) ? <ClusterTable /> : areAllThere ? <NoMatch /> : <p class="panel empty">{texts.fleet.loading}</p>}
    </>
  );
}

function NoMatch() {
  return (
    <div class="panel empty">
      <p>{texts.fleet.noneMatch}</p>
      <button type="button" onClick={clearFilters}>
        {texts.fleet.clear}
      </button>
    </div>
  );
}
