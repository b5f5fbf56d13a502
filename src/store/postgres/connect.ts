/** The way to the server: what is used of a pool, and how values come back from it. */
import { HoldfastError } from "../../errors.ts";
import type { Row } from "../rows.ts";

/** What the store uses of a `pg` Pool. */
export interface PostgresPool {
  query(query: Query): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  /** How many connections it has at most, where it says so. */
  readonly options?: { readonly max?: number | undefined };
}

export interface PostgresClient {
  query(query: Query): Promise<{ readonly rows: Row[] }>;
  release(error?: Error | boolean): void;
  /** Clients of `pg` tell what the server has to say by itself. */
  on?(event: "notification", told: (message: { readonly payload?: string | undefined }) => void): unknown;
  on?(event: "error" | "end", told: () => void): unknown;
  off?(event: "error", told: () => void): unknown;
}

export interface Query {
  /** What the server keeps it under for the next time. */
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly types?: { getTypeParser(oid: number, format?: string): (value: string) => unknown };
}

/** Throws if the server cannot keep what the port promises. */
export function checkServer(row: Row | undefined, store: string, full: boolean): void {
  if (row?.encoding !== "UTF8")
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `${store} is in a database of encoding ${row?.encoding}; use one that has UTF8`,
    );
  if (full && row.fsync !== "on")
    throw new HoldfastError(
      "STORE_UNAVAILABLE",
      `${store} is on a server with fsync off, which loses what it answered when the power fails; turn it on, or open the store with synchronous: "server"`,
    );
}

/** Work of several statements, all of it or nothing. */
export async function inTransaction<Answer>(
  pool: PostgresPool,
  work: (client: PostgresClient) => Promise<Answer>,
): Promise<Answer> {
  const client = await pool.connect();
  client.on?.("error", tellNobody);
  let answer: Answer;
  try {
    await client.query({ text: "BEGIN ISOLATION LEVEL READ COMMITTED" });
    answer = await work(client);
    await client.query({ text: "COMMIT" });
  } catch (error) {
    // A connection that cannot even roll back is not given to anybody else.
    const broken = await client.query({ text: "ROLLBACK" }).then(
      () => false,
      () => true,
    );
    giveBack(client, broken);
    throw error;
  }
  giveBack(client, false);
  return answer;
}

/** A connection that dies between two statements is told of by the next one; an event nobody hears would end the process. */
function tellNobody(): void {}

function giveBack(client: PostgresClient, broken: boolean): void {
  // One that is thrown away may still say that it died.
  if (!broken) client.off?.("error", tellNobody);
  client.release(broken);
}

const asText = (value: string): unknown => value;
const parsers: Readonly<Record<number, (value: string) => unknown>> = {
  /** boolean */
  16: (value) => value === "t",
  /** bytea */
  17: (value) => {
    const bytes = value.startsWith("\\x") ? Buffer.from(value.slice(2), "hex") : unescaped(value);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  },
  /** bigint and integer */
  20: wholeNumber,
  23: wholeNumber,
  /** double precision */
  701: Number,
  /** json and jsonb */
  114: (value) => JSON.parse(value),
  3802: (value) => JSON.parse(value),
};

/** How a value is read, whatever else in this process has told the driver. */
export const types: NonNullable<Query["types"]> = { getTypeParser: (oid) => parsers[oid] ?? asText };

/** Bytes as a server with `bytea_output` at `escape` writes them: as they are, save `\\` and three octal digits for the others. */
function unescaped(value: string): Buffer {
  const text = value.replace(/\\(\\|[0-7]{3})/g, (_, one: string) =>
    one === "\\" ? one : String.fromCharCode(Number.parseInt(one, 8)),
  );
  return Buffer.from(text, "latin1");
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is beyond what can be counted to`);
  return number;
}
