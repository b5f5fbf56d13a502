/** A rolling upgrade as it happens: processes with the code of before and of today on one store, one for the other. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrations } from "../../../src/store/postgres/schema.ts";
import { createDatabase, type Database } from "../../postgres/database.ts";
import { root } from "../../project.ts";
import type { Answer, MemberOptions, Task } from "./member.ts";

const here = join(root, "test/golden/code");
const today = ["src/index.ts", "src/store/postgres/store.ts"].map((path) => join(root, path));

let database: Database;
let folder: string;
let members: Member[] = [];

beforeEach(async () => {
  database = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), "holdfast-rolling-"));
});
afterEach(async () => {
  await Promise.all(members.map((member) => member.kill()));
  members = [];
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** A process that does what it is told. */
class Member {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<void>;
  #tasks = 0;

  constructor(options: MemberOptions) {
    const execArgv = ["--conditions=holdfast-source", "--no-warnings"];
    this.#child = fork(join(here, "member.ts"), [JSON.stringify(options)], { execArgv, silent: true });
    this.#child.on("message", (answer: Answer) => this.#asked.get(answer.id)?.(answer));
    this.#ended = new Promise((resolve) => void this.#child.on("close", () => resolve()));
    members.push(this);
  }

  /** The code of what kept it from becoming a member, if something did. */
  async up(): Promise<string | undefined> {
    const lost = this.#ended.then((): Answer => ({ id: 0, code: "GONE" }));
    return (await Promise.race([this.#answer(0), lost])).code;
  }

  #answer(id: number): Promise<Answer> {
    return new Promise((resolve) => void this.#asked.set(id, resolve));
  }

  /** What it answers; the code of an error, if it was one. */
  async do(verb: Task["verb"], run?: string, data?: number): Promise<unknown> {
    const id = ++this.#tasks;
    const answered = this.#answer(id);
    this.#child.send({ id, verb, ...(run !== undefined && { run }), ...(data !== undefined && { data }) });
    const { value, code } = await answered;
    return code ?? value;
  }

  async close(): Promise<void> {
    await this.do("close");
    await this.kill();
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

/** A process with the code of a golden bundle, or with today's. */
async function member(golden: string | undefined, versions: readonly number[]): Promise<Member> {
  const bundle = join(folder, `${golden}.mjs`);
  if (golden !== undefined)
    writeFileSync(bundle, zstdDecompressSync(readFileSync(join(here, `${golden}.golden`))));
  const code = golden === undefined ? today : [bundle];
  return new Member({ code, url: database.url, versions, ledger: join(folder, "ledger") });
}

const storeVersion = async (): Promise<unknown> =>
  (await database.query("SELECT version FROM holdfast.store_version"))[0]?.version;

const namesOf = (letter: string): string[] => Array.from({ length: 6 }, (_, index) => `${letter}${index}`);

test("G5: old and new code, with two versions of a machine, work side by side until the old one has left", async () => {
  const sent = new Map<string, number[]>();
  let notes = 0;
  /** A note to each of these runs, through each of these processes. */
  const note = (through: readonly Member[], runs: readonly string[]) =>
    Promise.all(
      runs.flatMap((run) =>
        through.map(async (one) => {
          const data = ++notes;
          sent.set(run, [...(sent.get(run) ?? []), data]);
          expect(await one.do("note", run, data)).toBe("taken");
        }),
      ),
    );
  const pay = (through: Member, runs: readonly string[]) =>
    Promise.all(runs.map(async (run) => expect(await through.do("pay", run)).toBe("taken")));

  const old = await member("postgres-v9", [1]);
  expect([await old.up(), await storeVersion()]).toEqual([undefined, 9]);
  const before = namesOf("before-");
  await Promise.all(before.map((run) => old.do("start", run)));
  await note([old], before);

  // The store is brought to today's version under the old one, which goes on.
  const young = await member(undefined, [1, 2]);
  expect([await young.up(), await storeVersion()]).toEqual([undefined, migrations.length]);
  await expect.poll(() => old.do("members")).toBe(2);
  const after = namesOf("after-");
  const late = namesOf("late-");
  await Promise.all([
    ...after.map((run) => young.do("start", run)),
    ...late.map((run) => old.do("start", run)),
  ]);
  await note([old, young], [...before, ...late]);
  await note([young], after);
  expect(await old.do("note", "after-0", 0)).toBe("MACHINE_UNKNOWN");
  await Promise.all([
    pay(young, before.slice(0, 2)),
    pay(old, late.slice(0, 2)),
    pay(young, after.slice(0, 2)),
  ]);

  // One of the old code that is begun now is told why it cannot be.
  expect(await (await member("postgres-v9", [1])).up()).toBe("STORE_NEWER");

  const rest = [before, late, after].map((runs) => runs.slice(2));
  const draining = old.do("drain");
  for (let round = 0; round < 3; round++) await note([young], rest.flat());
  expect(await draining).toBe(true);
  await old.close();
  await expect.poll(() => young.do("members")).toBe(1);
  await note([young], rest.flat());
  await pay(young, rest.flat());

  for (const run of [...before, ...late, ...after]) {
    const end = (await young.do("finish", run)) as { output: number[]; version: number };
    expect([run, end.version, end.output.toSorted((one, other) => one - other)]).toEqual([
      run,
      run.startsWith("after") ? 2 : 1,
      sent.get(run),
    ]);
  }
  const ledger = readFileSync(join(folder, "ledger"), "utf8").trim().split("\n");
  expect(ledger.toSorted()).toEqual([...before, ...late, ...after].toSorted());
});
