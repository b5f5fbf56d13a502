/**
 * The commands that people use on runs, against a real `holdfast dev` on SQLite in a process of its own: what they print for people and
 * as JSON, and what they end with. What changes from time to time (times, ports, tokens) is written as a word.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { root } from "../project.ts";
import { type Command, holdfast } from "./process.ts";
import { stillWorld } from "./read-command.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-commands-"));
const machines = (fee: number) => `
import { defineMachine } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
export const expense = defineMachine({
  id: "expense",
  start: ({ input }) => ({ euros: input?.euros ?? 0, paid: 0 }),
  initial: "open",
  states: {
    open: { on: { add: { update: (draft, { event }) => { draft.euros += event.data; } }, submit: "approving" } },
    approving: { approval: { onApproved: "paying", onRejected: "open" } },
    paying: {
      invoke: {
        activity: "pay",
        input: ({ context }) => context.euros,
        onDone: { target: "paid", update: (draft, { event }) => { draft.paid = event.data; } },
        onError: "open",
      },
    },
    paid: { type: "final", output: ({ context }) => context.paid },
  },
});
export default [{ machine: expense, activities: { pay: (euros) => euros + ${fee} } }];
`;

let dev: Command;
beforeAll(async () => {
  writeFileSync(join(folder, "machines.ts"), machines(0));
  dev = holdfast(["dev", "--port", "0", "--no-open"], {}, folder);
  await dev.says(/^up: http:\/\/127\.0\.0\.1:\d+\/\?token=\S+$/m);
});
afterAll(async () => {
  dev.signal("SIGTERM");
  expect(await dev.ended).toBe(0);
  expect(existsSync(join(folder, ".holdfast/dev.json"))).toBe(false);
  rmSync(folder, { recursive: true });
});

interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Carried out in this process: another one for each would take most of the time. */
async function told(line: string, ...more: string[]): Promise<Told> {
  const { world, said } = stillWorld();
  const stop = new AbortController().signal;
  return { code: await execute([...line.split(" "), ...more], { ...world, cwd: folder, stop }), ...said };
}

/** One that goes on until it is stopped, and what it has said so far. */
function watching(line: string) {
  const { world, said } = stillWorld();
  const stopping = new AbortController();
  const code = execute(line.split(" "), { ...world, cwd: folder, stop: stopping.signal });
  return {
    said,
    stop: () => {
      stopping.abort();
      return code;
    },
  };
}

/** What stays the same from run to run of the tests. */
const steady = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+ ?(Z|UTC)/g, "TIME").replaceAll(/ +$/gm, "");
const json = async (line: string, ...more: string[]) =>
  JSON.parse((await told(`${line} --json`, ...more)).out) as Record<string, unknown>;

describe("a run", () => {
  test("is started, listed, sent to, shown, decided on and told step by step", async () => {
    expect((await told("runs start expense --id e-1 --input", '{"euros":7}')).out).toBe(
      "e-1: waits for add, submit\n",
    );
    expect(steady((await told("runs list")).out)).toMatchInlineSnapshot(`
      "RUN  MACHINE    STATUS  SEQ  UPDATED               NOTE
      e-1  expense@1  active  1    TIME
      "
    `);
    expect((await told("runs send e-1 add 5 --wait")).out).toBe("taken at checkpoint 2\n");
    const refused = await told("runs send e-1 nonsense --wait");
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/^refused at checkpoint 3: /)]);
    expect((await told("runs send e-1 submit --key once")).out).toBe("durable\n");
    expect((await told("runs send e-1 submit --key once")).out).toBe("durable\n");
    expect(steady((await told("runs show e-1")).out)).toMatchInlineSnapshot(`
      "run         e-1
      machine     expense@1
      status      active
      checkpoint  4
      last        submit by dev
      states      approving
      waiting     waits for a decision: approving (approve or reject)
      created     TIME
      updated     TIME
      events      approve, reject
      context
        {
          "euros": 12,
          "paid": 0
        }
      "
    `);
    expect(await json("runs show e-1")).toMatchObject({
      ...{ run: "e-1", status: "active", seq: 4, configuration: ["approving"], needsPerson: true },
      state: { context: { euros: 12, paid: 0 } },
    });
    expect(await json("runs show e-1 --at 1")).toMatchObject({ at: 1, state: { context: { euros: 7 } } });
    expect(steady((await told("runs show e-1 --at 1")).out)).toMatchInlineSnapshot(`
      "run         e-1
      machine     expense@1
      checkpoint  1 of 4
      last        start by dev
      states      open
      created     TIME
      now         active, waits for a decision: approving (approve or reject)
      context
        {
          "euros": 7,
          "paid": 0
        }
      "
    `);
    expect((await told("inbox list")).out).toContain("approving@4");
    expect((await told("inbox approve e-1")).out).toBe("e-1 approving@4: taken at checkpoint 5\n");
    expect(steady((await told("runs tail e-1 --from 4")).out)).toMatchInlineSnapshot(`
      "    4  TIME  submit by dev → approving
          5  TIME  approve {"by":"dev"} by dev → paying (pay)
          6  TIME  done.invoke.paying 12 → paid
      "
    `);
    expect(await json("runs list --status done")).toMatchObject([{ run: "e-1", status: "done" }]);
  });

  test("is looked at as it was, taken back, forked and compared", async () => {
    await told("runs start expense --id t-1 --input", '{"euros":1}');
    await told("runs send t-1 add 2 --wait");
    await told("runs send t-1 submit --wait");
    expect((await told("runs diff t-1 1 2")).out).toContain("set $.context.euros");
    expect((await told("runs rollback t-1 --by 1 --dry-run")).out).toBe("It would go on at 2, in open\n");
    expect((await told("runs rollback t-1 --by 1")).out).toBe("t-1 is back at 2, with checkpoint 4\n");
    expect((await told("runs rollback t-1 --to 2 --set euros=7 --dry-run")).out).toBe(
      "It would go on at 2, in open\n",
    );
    await told("runs rollback t-1 --to 2 --set euros=7");
    expect(await json("runs show t-1")).toMatchObject({ seq: 5, state: { context: { euros: 7 } } });
    expect((await told("runs fork t-1 --at 1 --id t-2 --set euros=90")).out).toBe(
      "t-2: waits for add, submit\n",
    );
    expect(await json("runs show t-2")).toMatchObject({
      state: { context: { euros: 90 } },
      fork: { run: "t-1" },
    });
    expect((await told("runs diff t-1 --with t-2")).out).toMatch(/^1 steps in common\n/);
    const both = await told("runs rollback t-1 --by 1 --to 1");
    expect([both.code, both.err]).toEqual([2, expect.stringContaining("--to, or how far with --by")]);
  });

  test("is taken through its events one at a time, and let go on", async () => {
    await told("runs start expense --id s-1");
    expect(await json("step s-1 --events 1")).toMatchObject({ run: { status: "active" } });
    await told("runs send s-1 add 3 --wait");
    await told("runs send s-1 add 4");
    const euros = async () => ((await json("runs show s-1")).state as { context: object }).context;
    expect([await euros(), await json("runs show s-1")]).toMatchObject([{ euros: 3 }, { status: "parked" }]);
    await told("step s-1 --go");
    await told("runs send s-1 submit --wait");
    expect(await euros()).toMatchObject({ euros: 7 });
  });

  test("is watched: steps of the runs that fit, and decisions as they come to be asked, each once", async () => {
    await told("runs start expense --id w-1 --subject ada");
    const [runs, inbox] = [
      watching("runs list --subject ada --watch"),
      watching("inbox list --watch --json"),
    ];
    // Until both listen; what they listen to begins with what comes next.
    let round = 0;
    const names = () => [...inbox.said.out.matchAll(/^\{.*?"run":"(w-[^"]+)/gm)].map(([, run]) => run);
    await expect
      .poll(async () => {
        const run = `w-other-${++round}`;
        await told(`runs start expense --id ${run}`);
        await told(`runs send ${run} submit --wait`);
        await told("runs send w-1 add 1 --wait");
        return [/Z {2}w-1 {2}\d+ {2}add {2}open {2}active$/m.test(runs.said.out), names().length > 1];
      })
      .toEqual([true, true]);
    expect(runs.said.out).not.toContain("w-other");
    // Lines throughout, those of what there was at the beginning too.
    for (const line of inbox.said.out.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("decision");
    expect(new Set(names()).size).toBe(names().length);
    expect([await runs.stop(), await inbox.stop()]).toEqual([0, 0]);
  });

  test("that is not there, or an event without data that is JSON, is told what to do about", async () => {
    const unknown = await told("runs show nobody");
    expect([unknown.code, unknown.err]).toEqual([
      1,
      expect.stringMatching(/^holdfast: RUN_UNKNOWN: .*nobody/),
    ]);
    const broken = await told("runs send e-1 add", "{oops");
    expect([broken.code, broken.err]).toEqual([2, expect.stringContaining("is no JSON")]);
    const asJson = await told("runs show nobody --json");
    expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: "RUN_UNKNOWN" } });
  });

  test("is cancelled with others, on trial first", async () => {
    await told("runs start expense --id c-1");
    expect((await told("runs cancel c-1 e-1 --dry-run")).out).toBe("c-1: would cancel\ne-1: nothing to do\n");
    expect((await told("runs cancel c-1")).out).toBe("c-1: cancel done\n");
    expect(await json("runs show c-1")).toMatchObject({ status: "cancelled" });
  });
});

test("G5: machines that change are loaded into runs that are alive, and those that cannot be loaded change nothing", async () => {
  await told("runs start expense --id r-1 --input", '{"euros":1}');
  await told("runs send r-1 submit --wait");
  writeFileSync(join(folder, "machines.ts"), machines(100));
  await dev.says(/loaded anew/);
  writeFileSync(join(folder, "machines.ts"), "export default [(");
  await dev.says(/not loaded: .*what was there goes on/);
  await told("inbox approve r-1");
  // It tells until the run has ended.
  await told("runs tail r-1 --from 1");
  expect(await json("runs show r-1")).toMatchObject({ status: "done", output: 101 });
});

test("G5: while machines are loaded anew nobody is refused: requests wait for those who come", async () => {
  const { url, token } = JSON.parse(readFileSync(join(folder, ".holdfast/dev.json"), "utf8")) as {
    url: string;
    token: string;
  };
  const statuses = new Set<number>();
  const loads = () => dev.said.err.match(/loaded anew/g)?.length ?? 0;
  const before = loads();
  writeFileSync(join(folder, "machines.ts"), machines(200));
  do statuses.add((await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status);
  while (loads() === before);
  expect([...statuses]).toEqual([200]);
});

test("F1: the file that leads to the server is for its owner only, and without the token nobody is answered", async () => {
  const path = join(folder, ".holdfast/dev.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { url } = JSON.parse(readFileSync(path, "utf8")) as { url: string };
  expect((await fetch(`${url}/v1/runs`)).status).toBe(401);
  const refused = await told(`runs list --url ${url} --api-key wrong`);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("KEY_REFUSED")]);
});

test("F1: a key for other servers is not sent to one that was found by its file", async () => {
  const { world, said } = stillWorld({ HOLDFAST_KEY: "hf_other_secret" });
  const stop = new AbortController().signal;
  expect(await execute(["runs", "list", "--json"], { ...world, cwd: folder, stop })).toBe(0);
  expect(said.err).toBe("");
});

describe("without a server", () => {
  const store = join(folder, "other.db");

  test("a store is made, worked on, copied, looked through and restored", async () => {
    expect((await told(`db migrate --store ${store}`)).out).toBe("The schema is current.\n");
    const started = await told(`runs start expense --id x-1 --store ${store} --module machines-one.mjs`);
    expect([started.code, started.err]).toEqual([2, expect.stringContaining("There is no module")]);
    writeFileSync(join(folder, "machines-one.ts"), machines(0));
    expect((await told(`runs start expense --id x-1 --store ${store} --module machines-one.ts`)).code).toBe(
      0,
    );
    expect(await json(`runs list --store ${store}`)).toMatchObject([{ run: "x-1" }]);
    const made = await json(`db backup ${join(folder, "backups")} --store ${store}`);
    expect((await told(`db restore ${made.path as string} --to ${join(folder, "again.db")}`)).out).toContain(
      "1 runs",
    );
    expect((await told(`db verify --store ${join(folder, "again.db")}`)).out).toBe(
      "1 runs, 1 entries, 0 problems\n",
    );
    const twice = await told(`db restore ${made.path as string} --to ${join(folder, "again.db")}`);
    expect([twice.code, twice.err]).toEqual([1, expect.stringContaining("BACKUP_UNUSABLE")]);
  });

  test("G4: a server that is told to stop while it begins stops", async () => {
    const { world, said } = stillWorld();
    writeFileSync(join(folder, "machines-two.ts"), machines(0));
    const argv = ["start", "machines-two.ts", "--store", store, "--listen", "127.0.0.1:0"];
    const code = await execute(argv, { ...world, cwd: folder });
    expect([code, said.err]).toEqual([0, expect.stringContaining("draining")]);
  }, 10_000);

  test("F1: keys are made, listed without their secrets, and revoked", async () => {
    const made = await told(`keys create ci --role operator --expires 90d --store ${store}`);
    expect(made.out).toMatch(/^hf_\w+_\S{43}\n$/);
    const [, id] = /^hf_(\w+?)_/.exec(made.out) ?? [];
    const listed = await told(`keys list --store ${store}`);
    expect(listed.out).toContain(`${id}  ci    operator`);
    expect(listed.out).not.toContain(made.out.trim().slice(-20));
    expect((await told(`keys revoke ${id} --store ${store}`)).out).toBe("ci is revoked\n");
    const other = await told(`keys create ci --role king --store ${store}`);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("--role is king")]);
  });
});

describe("a machine in a file", () => {
  const yaml = join(folder, "refund.yaml");

  test("is validated with every problem, drawn, and simulated event by event", async () => {
    writeFileSync(
      yaml,
      "id: refund\nversion: 1\ninitial: a\nstates: { a: { on: { go: b }, after: [{ delay: 1 day, target: c }] }, b: {}, c: { type: final } }\n",
    );
    expect((await told(`machines validate ${yaml}`)).out).toBe(`${yaml} is good.\n`);
    expect((await told(`machines diagram ${yaml}`)).out).toMatch(/^stateDiagram-v2\n/);
    const turns = (await told(`machines simulate ${yaml}`, "nonsense", "+1d", "--json")).out
      .trim()
      .split("\n");
    expect(turns.map((turn) => (JSON.parse(turn) as { configuration: string[] }).configuration)).toEqual([
      ["a"],
      ["a"],
      ["c"],
    ]);
    writeFileSync(yaml, "id: refund\nversion: 1\ninitial: nowhere\nstates: { a: { on: { go: lost } } }\n");
    const bad = await told(`machines validate ${yaml}`);
    expect([bad.code, bad.out.trim().split("\n").length]).toEqual([1, 2]);
  });
});

test("through a pipe, data goes to one channel and notes to the other", async () => {
  const list = holdfast(["runs", "list", "--json"], { HOLDFAST_STORE: "", HOLDFAST_URL: "" }, folder);
  expect(await list.ended).toBe(0);
  expect([Array.isArray(JSON.parse(list.said.out)), list.said.err]).toEqual([true, ""]);
  const wrong = holdfast(["runs", "show", "nobody"], {}, folder);
  expect(await wrong.ended).toBe(1);
  expect([wrong.said.out, wrong.said.err]).toEqual(["", expect.stringContaining("RUN_UNKNOWN")]);
});

test.each(["bash", "zsh", "fish"])("completion for %s knows every command and option", async (shell) => {
  const { out } = await told(`completion ${shell}`);
  for (const word of ["rollback", "approve", "verify", "no-open"]) expect(out).toContain(word);
});
