// Follows an event stream with event-source-polyfill, as pages and programs do that have no EventSource of their own or need a header
// with it. Prints the sequence of each event of a type, one a line; ends when standard input does.
// Arguments: URL, token, name of the query parameter that tells the last id (empty: the library's own), type of events.
import { createInterface } from "node:readline";
import polyfill from "event-source-polyfill";

const [url, token, parameter, type] = process.argv.slice(2);
const source = new polyfill.EventSourcePolyfill(url, {
  headers: { Authorization: `Bearer ${token}` },
  ...(parameter && { lastEventIdQueryParameterName: parameter }),
});
console.error = () => {}; // what it says of a cut
source.onopen = () => console.log("open");
source.addEventListener(type, (event) => console.log(JSON.parse(event.data).sequence));
source.onerror = () => {
  if (source.readyState === polyfill.EventSourcePolyfill.CLOSED) console.log("closed for good");
};
for await (const _ of createInterface({ input: process.stdin }));
source.close();
