/** findRuns: by what runs are and by their attributes, newest first, a page at a time. */
import type { Attribute, RunHead, RunStatus } from "../records.ts";
import type { RunQuery, Store } from "../store.ts";
import { begun, commitOn, committed, firstCommit, noon, owned, tenant } from "./sample.ts";
import type { Cases } from "./world.ts";

const find = async (store: Store, query: Partial<RunQuery>): Promise<string[]> =>
  (await store.findRuns({ tenant, limit: 100, ...query })).map(({ run }) => run);

/** Runs a to f: two machines, two subjects, three statuses, one created a second after the other, e and f at once. */
async function six(store: Store): Promise<{ readonly epoch: number; readonly heads: RunHead[] }> {
  const epoch = await owned(store);
  const statuses: readonly RunStatus[] = ["active", "done", "failed"];
  const heads = ["a", "b", "c", "d", "e", "f"].map((run, index) => ({
    run,
    machine: index % 2 === 0 ? "booking" : "refund",
    subject: index < 3 ? "ada" : "bob",
    status: statuses[index % 3] as RunStatus,
    createdAt: noon + Math.min(index, 4) * 1_000,
    attributes: { place: index, even: index % 2 === 0 },
  }));
  const begunHeads: RunHead[] = [];
  for (const head of heads) begunHeads.push(await committed(store, firstCommit(head.run, epoch, { head })));
  return { epoch, heads: begunHeads };
}

export const findCases: Cases = {
  "runs are found newest first, those of one time by name": async ({ store, reopen, expect }) => {
    const { heads } = await six(store);
    const opened = await reopen();
    expect(await find(opened, {})).toEqual(["f", "e", "d", "c", "b", "a"]);
    expect(await opened.findRuns({ tenant, limit: 100 })).toEqual(heads.toReversed());
    expect(await find(opened, { limit: 2 })).toEqual(["f", "e"]);
  },

  "runs are found by machine, subject, status and time": async ({ store, expect }) => {
    await six(store);
    expect(await find(store, { machine: "refund" })).toEqual(["f", "d", "b"]);
    expect(await find(store, { subject: "ada" })).toEqual(["c", "b", "a"]);
    expect(await find(store, { status: "done" })).toEqual(["e", "b"]);
    expect(await find(store, { status: "parked" })).toEqual([]);
    expect(await find(store, { createdFrom: noon + 1_000, createdBefore: noon + 3_000 })).toEqual(["c", "b"]);
    expect(await find(store, { machine: "booking", subject: "bob", status: "done" })).toEqual(["e"]);
  },

  "pages follow one another without gaps or repeats": async ({ store, expect }) => {
    const { epoch, heads } = await six(store);
    const queries: Partial<RunQuery>[] = [{}, { machine: "refund" }, { attributes: { even: true } }];
    for (const query of queries) {
      const all = await find(store, query);
      const paged: RunHead[] = [];
      for (let page = await store.findRuns({ tenant, limit: 1, ...query }); page.length > 0; ) {
        paged.push(...page);
        page = await store.findRuns({ tenant, limit: 1, ...query, after: paged.at(-1) as RunHead });
      }
      expect(paged.map(({ run }) => run)).toEqual(all);
    }
    await committed(store, firstCommit("newer", epoch, { head: { createdAt: noon + 9_000 } }));
    const { createdAt, run } = heads[4] as RunHead;
    expect(await find(store, { after: { createdAt, run }, limit: 2 })).toEqual(["d", "c"]);
  },

  "a page begins after a place, be there a run or not": async ({ store, expect }) => {
    await six(store);
    const after = (createdAt: number, run: string) => find(store, { after: { createdAt, run }, limit: 2 });
    expect(await after(noon + 9_000, "")).toEqual(["f", "e"]);
    expect(await after(noon + 4_000, "eee")).toEqual(["e", "d"]);
    expect(await after(noon + 4_000, "")).toEqual(["d", "c"]);
    expect(await after(noon + 2_500.5, "nobody")).toEqual(["c", "b"]);
    expect(await after(noon, "a")).toEqual([]);
    const place = { createdAt: noon + 3_000, run: "d" };
    expect(await find(store, { after: place, attributes: { even: true }, limit: 1 })).toEqual(["c"]);
  },

  "runs are found by attributes, by all of those asked for": async ({ store, reopen, expect }) => {
    await six(store);
    const opened = await reopen();
    expect(await find(opened, { attributes: { even: true } })).toEqual(["e", "c", "a"]);
    expect(await find(opened, { attributes: { even: true, place: 2 } })).toEqual(["c"]);
    expect(await find(opened, { attributes: { even: false, place: 2 } })).toEqual([]);
    expect(await find(opened, { attributes: { even: true, place: 5 } }), "of two of one time").toEqual([]);
    expect(await find(opened, { attributes: { even: true }, subject: "bob", status: "done" })).toEqual(["e"]);
    expect(await find(opened, { attributes: { none: 1 } })).toEqual([]);
    expect(await find(opened, { attributes: {} })).toEqual(["f", "e", "d", "c", "b", "a"]);
  },

  "values of different kinds are different values": async ({ store, expect }) => {
    const epoch = await owned(store);
    const values: Record<string, Attribute> = {
      text: "1",
      number: 1,
      truth: true,
      word: "true",
      half: 0.5,
      empty: "",
    };
    for (const [run, value] of Object.entries(values))
      await committed(store, firstCommit(run, epoch, { head: { attributes: { value } } }));
    for (const [run, value] of Object.entries(values))
      expect(await find(store, { attributes: { value } })).toEqual([run]);
  },

  "names and values of attributes are data, whatever is written in them": async ({ store, expect }) => {
    const epoch = await owned(store);
    const odd = [
      "a' OR 1=1 --",
      '"; DROP TABLE run; --',
      "%",
      "_",
      "",
      "$.a",
      "constructor",
      "__proto__",
      "ключ ☂",
    ];
    for (const [index, name] of odd.entries()) {
      const attributes = Object.fromEntries([[name, name]]);
      await committed(store, firstCommit(`run-${index}`, epoch, { head: { attributes } }));
    }
    for (const [index, name] of odd.entries()) {
      expect(await find(store, { attributes: Object.fromEntries([[name, name]]) }), name).toEqual([
        `run-${index}`,
      ]);
      expect(await find(store, { attributes: Object.fromEntries([[name, "other"]]) }), name).toEqual([]);
    }
  },

  "attributes that changed are found by what they are now": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, {
      head: { attributes: { stage: "new", owner: "ada", kept: 1 } },
    });
    const attributes = { stage: "old", kept: 1, added: true };
    const second = await committed(store, commitOn(head, epoch, { head: { attributes } }));
    expect(await find(store, { attributes: { stage: "new" } })).toEqual([]);
    expect(await find(store, { attributes: { owner: "ada" } })).toEqual([]);
    expect(await find(store, { attributes })).toEqual(["run-1"]);
    expect(await store.findRuns({ tenant, limit: 1, attributes })).toEqual([second]);
    await committed(store, commitOn(second, epoch, { head: { attributes: {} } }));
    expect(await find(store, { attributes: { kept: 1 } })).toEqual([]);
  },

  "a found head is the newest one": async ({ store, expect }) => {
    const { epoch, head } = await begun(store, { head: { attributes: { a: 1 } } });
    const newest = await committed(store, commitOn(head, epoch, { steps: 5, head: { status: "done" } }));
    expect(await store.findRuns({ tenant, limit: 9, status: "done" })).toEqual([newest]);
    expect(await find(store, { status: "active" })).toEqual([]);
    expect(await store.findRuns({ tenant, limit: 9, attributes: { a: 1 } })).toEqual([newest]);
  },
};
