// Reads a text/event-stream from standard input and prints the events that an independent parser finds, as JSON. The bytes are given
// to it cut in two at every place; each cut has to give the same.
import { createParser } from "eventsource-parser";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const bytes = Buffer.concat(chunks);

function parse(pieces) {
  const events = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ id, event, data }) => events.push({ id, type: event, data }),
    onError: (error) => {
      throw error;
    },
  });
  for (const piece of pieces) parser.feed(decoder.decode(piece, { stream: true }));
  return JSON.stringify(events);
}

const whole = parse([bytes]);
for (let at = 1; at < bytes.length; at++) {
  if (parse([bytes.subarray(0, at), bytes.subarray(at)]) !== whole) throw new Error(`cut at ${at}`);
}
if (parse(Array.from(bytes, (byte) => Uint8Array.of(byte))) !== whole) throw new Error("cut everywhere");
console.log(whole);
