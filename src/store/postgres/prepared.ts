/**
 * A prepared statement that answers with how many rows it wrote, as a client of `pg` takes statements from others: what it
 * makes of a plain one, for rows, fields and events that this has none of, takes longer than to send it.
 *
 * https://node-postgres.com/apis/client#queryable
 * https://www.postgresql.org/docs/15/protocol-message-formats.html
 */
import type { Query } from "./connect.ts";

/** What is used of the driver's connection. */
interface Connection {
  readonly stream: { write(bytes: Buffer): void };
  /** The texts of the statements that the server has, by name. The client notes them, by the name and text of whom it serves. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(statement: { readonly name: string; readonly text: string }): void;
}

export class Prepared {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The client may put its own in its place, and wants it to be called. */
  callback: (error: unknown, rowCount: number) => void;
  #rowCount = 0;

  constructor({ name = "", text, values = [] }: Query, callback: Prepared["callback"]) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.callback = callback;
  }

  submit(connection: Connection): null {
    const { name, text } = this;
    if (connection.parsedStatements[name] === undefined) connection.parse({ name, text });
    connection.stream.write(callOf(name, this.values.map(written)));
    return null;
  }

  /** `INSERT 0 1`: the last word is the number of rows. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rowCount = Number(text.slice(text.lastIndexOf(" ") + 1));
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#rowCount);
  }

  handleError(error: unknown): void {
    this.callback(error, 0);
  }

  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleEmptyQuery(): void {}
}

/** Bytes as they are, everything else as text. */
function written(value: unknown): string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array ? value : String(value);
}

/** Execute, of the portal that has no name, all of it; and Sync. */
const executed = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const bind = 0x42;

/** Bind, Execute and Sync in one piece: for each value whether it is bytes, then its length and itself. */
function callOf(name: string, values: readonly (string | Uint8Array)[]): Buffer {
  const sizes = values.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : value.length));
  const nameSize = Buffer.byteLength(name);
  // The length and two ends of names; how many formats, values and formats of results; each format and length.
  const size = sizes.reduce((sum, one) => sum + one, 4 + nameSize + 2 + 6 + values.length * 6);
  const call = Buffer.allocUnsafe(1 + size + executed.length);
  call[0] = bind;
  let at = call.writeInt32BE(size, 1);
  call[at++] = 0;
  at += call.write(name, at);
  call[at++] = 0;
  at = call.writeInt16BE(values.length, at);
  for (const value of values) at = call.writeInt16BE(typeof value === "string" ? 0 : 1, at);
  at = call.writeInt16BE(values.length, at);
  for (const [index, value] of values.entries()) {
    at = call.writeInt32BE(sizes[index] as number, at);
    if (typeof value === "string") call.write(value, at);
    else call.set(value, at);
    at += sizes[index] as number;
  }
  call.set(executed, call.writeInt16BE(0, at));
  return call;
}
