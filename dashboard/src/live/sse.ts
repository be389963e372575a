// Parses the text of an event stream (HTML standard, 9.2.6), in pieces of any size.

export type Block = { id: string | null; event: string; data: string | null; retry: number | null };

const empty = (): Block => ({ id: null, event: "message", data: null, retry: null });

export class StreamParser {
  private rest = "";
  private block = empty();

  /** Returns the blocks that this piece of text completes. */
  feed(text: string): Block[] {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    const done: Block[] = [];
    for (const line of lines) {
      if (line === "" || line === "\r") {
        done.push(this.block);
        this.block = empty();
      } else {
        this.take(line.endsWith("\r") ? line.slice(0, -1) : line);
      }
    }
    return done;
  }

  private take(line: string) {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.block.data = this.block.data === null ? value : `${this.block.data}\n${value}`;
    else if (field === "event") this.block.event = value;
    else if (field === "id" && !value.includes("\0")) this.block.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.block.retry = Number(value);
  }
}
