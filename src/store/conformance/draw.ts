/**
 * Drawing operations for the random sequences. The rows come from small pools, so that names, keys and checkpoints meet
 * again and again; the model is looked at so that most of what is drawn can succeed.
 */
import type { ActivityRow, InboxRow, RunHead, RunName } from "../records.ts";
import type { Commit, Lease, RunQuery, Store } from "../store.ts";
import type { SeenDocument } from "../upkeep.ts";
import type { Chance } from "./chance.ts";
import { drawMending } from "./mending.ts";
import { pools } from "./pools.ts";
import { activityOf, bytesOf, commitOn, entryOf, eventOf, headOf, leaseMs, noon } from "./sample.ts";

/** One call of a verb, to be made of the store and of the model alike. */
export interface Operation {
  readonly verb: keyof Store;
  readonly parameters: unknown;
  call(store: Store): Promise<unknown>;
}

/** What the drawing remembers: the time, ids given so far, and the epoch each worker believes in. */
export class Draw {
  readonly #chance: Chance;
  readonly #model: Store;
  readonly #epochs = new Map<string, number>();
  #now = noon;
  #ids = 0;
  #worker: string = pools.worker[0];

  constructor(chance: Chance, model: Store) {
    this.#chance = chance;
    this.#model = model;
  }

  /** The next operation; time passes a little. */
  async next(): Promise<Operation> {
    this.#now += this.#chance.below(2_000);
    const draws: readonly [weight: number, draw: () => Operation | Promise<Operation>][] = [
      [27, () => this.#commit()],
      [13, () => this.#enqueue()],
      [10, () => this.#own()],
      [2, () => this.#release()],
      [5, () => this.#recordActivities()],
      [2, () => this.#removeDeadLetter()],
      [5, () => this.#appendChunks()],
      [5, () => this.#writeDocument()],
      [1, () => this.#removeDocument()],
      [3, () => this.#due()],
      [3, () => this.#removeRuns()],
      [2, () => this.#pruneJournal()],
      [1, () => sweepAll],
      [1, () => this.#mend()],
      [20, () => this.#read()],
    ];
    let drawn = this.#chance.below(100);
    for (const [weight, draw] of draws) {
      if (drawn < weight) return draw();
      drawn -= weight;
    }
    throw new Error("The weights must add up to a hundred");
  }

  /** What the store answered to `own` decides which epoch its worker believes in. */
  heard(operation: Operation, answer: unknown): void {
    if (operation.verb !== "own") return;
    const lease = answer as Lease;
    if (lease.outcome === "owned") this.#epochs.set(this.#worker, lease.epoch);
  }

  #own(): Operation {
    if (this.#chance.percent(25)) this.#worker = this.#chance.pick(pools.worker);
    const [worker, now] = [this.#worker, this.#now];
    return operation("own", [worker, leaseMs, now], (store) => store.own(worker, leaseMs, now));
  }

  #release(): Operation {
    const [worker, epoch] = [this.#worker, this.#epoch()];
    const now = this.#chance.percent(50) ? this.#now : undefined;
    return operation("release", [worker, epoch, now], (store) => store.release(worker, epoch, now));
  }

  /** Mostly the epoch this worker has, now and then another. */
  #epoch(): number {
    return (this.#epochs.get(this.#worker) ?? 0) + (this.#chance.percent(4) ? 1 : 0);
  }

  #name(): RunName {
    const run = this.#chance.percent(75) ? this.#chance.pick(pools.run) : this.#chance.pick(pools.child);
    return { tenant: this.#chance.pick(pools.tenant), run };
  }

  async #commit(): Promise<Operation> {
    const tenant = this.#chance.pick(pools.tenant);
    const runs = this.#chance.some(pools.run);
    // What one item sends to a run that another begins or ends has no certain answer, so it is not asked for.
    const idle = [...pools.run.filter((run) => !runs.includes(run)), "nobody"];
    const children = this.#chance.some(pools.child);
    const commits: Commit[] = [];
    for (const run of runs)
      commits.push(
        await this.#commitOf(
          { tenant, run },
          [run, ...idle],
          children.splice(0, this.#chance.percent(25) ? 1 : 0),
        ),
      );
    return operation("commit", commits, (store) => store.commit(commits));
  }

  async #commitOf(
    name: RunName,
    recipients: readonly string[],
    children: readonly string[],
  ): Promise<Commit> {
    const chance = this.#chance;
    const loaded = await this.#model.load(name);
    // As with sends: a source that another item begins or ends has no certain answer.
    const sources = recipients.filter((run) => run !== name.run);
    const fork = { fork: { run: chance.pick(sources), seq: 1 + chance.below(4) } };
    const before = loaded?.head ?? { ...this.#fresh(name), ...(chance.percent(25) ? fork : {}) };
    const { wakeAt: _wakeAt, ...idle } = before;
    const head = chance.percent(30) ? { ...idle, ...this.#described() } : before;
    const stale = chance.percent(8) ? chance.below(3) - 1 : 0;
    const epoch = this.#epoch();
    const waiting = loaded?.inbox.map(({ id }) => id) ?? [];
    const starts = children.map((run) =>
      commitOn(this.#fresh({ ...name, run }), epoch, { withSnapshot: chance.percent(50) }),
    );
    const [seq, steps] = [Math.max(0, before.seq + stale), 1 + chance.below(3)];
    const taken = (names: readonly string[]) =>
      names.map((name) => ({ id: name, key: name, seq: seq + 1 + chance.below(steps) }));
    return commitOn({ ...head, seq }, epoch, {
      steps,
      withSnapshot: chance.percent(30) && (chance.percent(30) ? "kept" : true),
      consumed: taken([...chance.some(waiting), ...(chance.percent(3) ? ["gone"] : [])]),
      keys: taken(chance.percent(20) ? [chance.pick(pools.key)] : []),
      begun: chance.percent(30) ? [this.#activity(name)] : [],
      ended: chance.percent(20) ? [chance.pick(pools.activity)] : [],
      contents: chance.percent(20)
        ? [{ digest: chance.pick(pools.digest), bytes: bytesOf(String(this.#ids++)) }]
        : [],
      sends: Array.from({ length: chance.percent(30) ? 1 + chance.below(3) : 0 }, () =>
        this.#event({ ...name, run: chance.pick([...recipients, ...children]) }),
      ),
      starts,
    });
  }

  #fresh(name: RunName): RunHead {
    const subject = this.#chance.pick(pools.subject);
    return headOf({ ...name, subject, createdAt: this.#now, ...this.#described() });
  }

  /** What changes about a run now and then. */
  #described(): Partial<RunHead> {
    const chance = this.#chance;
    const status = chance.pick(pools.status);
    return {
      status,
      version: 1 + chance.below(2),
      spent: { tokens: chance.below(3) },
      attributes: { stage: chance.below(3), ...(chance.percent(50) ? { urgent: chance.percent(50) } : {}) },
      ...(chance.percent(50) ? { wakeAt: this.#now + chance.below(5_000) } : {}),
      ...(status === "active" ? {} : { completedAt: this.#now }),
    };
  }

  #event(name: RunName): InboxRow {
    const chance = this.#chance;
    const id = chance.percent(5) ? "repeated" : `e${String(this.#ids++).padStart(4, "0")}`;
    const key = chance.percent(40) ? { key: chance.pick(pools.key) } : {};
    const expendable = chance.percent(30) ? { expendable: true as const } : {};
    const subject = chance.pick(pools.subject);
    return eventOf(id, { ...name, ...key, ...expendable, subject, priority: chance.below(3), at: this.#now });
  }

  #activity(name: RunName): ActivityRow {
    const chance = this.#chance;
    return activityOf(chance.pick(pools.activity), {
      ...name,
      attempt: chance.below(3),
      status: chance.pick(["waiting", "running"]),
      dueAt: this.#now + chance.below(5_000),
      bytes: bytesOf(String(this.#ids++)),
      ...(chance.percent(40) ? { report: bytesOf("report") } : {}),
    });
  }

  #enqueue(): Operation {
    const rows = Array.from({ length: 1 + this.#chance.below(4) }, () => this.#event(this.#name()));
    return operation("enqueue", rows, (store) => store.enqueue(rows));
  }

  #recordActivities(): Operation {
    const rows = Array.from({ length: 1 + this.#chance.below(4) }, () => this.#activity(this.#name()));
    const epoch = this.#epoch();
    return operation("recordActivities", [rows, epoch], (store) => store.recordActivities(rows, epoch));
  }

  /** Stores number dead letters as they like, so these are chosen by their place. */
  #removeDeadLetter(): Operation {
    const [tenant, place] = [this.#chance.pick(pools.tenant), this.#chance.below(6)];
    return operation("removeDeadLetter", [tenant, place], async (store) => {
      const [letter] = (await store.readDeadLetters(tenant, 0, place + 1)).slice(place);
      return store.removeDeadLetter(tenant, letter?.number ?? 0);
    });
  }

  #readDeadLetters(tenant: string, place: number, limit: number): Operation {
    return operation("readDeadLetters", [tenant, place, limit], async (store) => {
      const [letter] = (await store.readDeadLetters(tenant, 0, place + 1)).slice(place);
      const letters = await store.readDeadLetters(tenant, letter?.number ?? 0, limit);
      return letters.map(({ number: _number, ...rest }) => rest);
    });
  }

  #appendChunks(): Operation {
    const [name, key] = [this.#name(), this.#chance.pick(pools.activity)];
    const offset = this.#chance.below(5);
    const chunks = [offset, offset + 1].map((at) => {
      return { offset: at, attempt: this.#chance.below(3), bytes: bytesOf(String(this.#ids++)) };
    });
    const epoch = this.#epoch();
    return operation("appendChunks", [name, key, chunks, epoch], (store) =>
      store.appendChunks(name, key, chunks, epoch),
    );
  }

  async #writeDocument(): Promise<Operation> {
    const [tenant, name] = [this.#chance.pick(pools.tenant), this.#chance.pick(pools.document)];
    const found = await this.#model.readDocument(tenant, name);
    const expect = this.#chance.percent(50) ? (found?.version ?? 0) : this.#chance.below(4);
    const bytes = bytesOf(String(this.#ids++));
    return operation("writeDocument", [tenant, name, expect], (store) =>
      store.writeDocument(tenant, name, expect, bytes),
    );
  }

  /** Mostly at the version it has. */
  async #removeDocument(): Promise<Operation> {
    const [tenant, name] = [this.#chance.pick(pools.tenant), this.#chance.pick(pools.document)];
    const found = await this.#model.readDocument(tenant, name);
    const expect = this.#chance.percent(75) ? (found?.version ?? 0) : this.#chance.below(4);
    return operation("removeDocument", [tenant, name, expect], (store) =>
      store.removeDocument(tenant, name, expect),
    );
  }

  #removeRuns(): Operation {
    const names = Array.from({ length: 1 + this.#chance.below(4) }, () => this.#name());
    const epoch = this.#epoch();
    const seen = this.#seen();
    return operation("removeRuns", [names, epoch, seen], (store) => store.removeRuns(names, epoch, seen));
  }

  /** Mostly nothing, else a document and a version that it may have. */
  #seen(): readonly SeenDocument[] {
    if (this.#chance.below(3) > 0) return [];
    const [tenant, name] = [this.#chance.pick(pools.tenant), this.#chance.pick(pools.document)];
    return [{ tenant, name, version: this.#chance.below(3) }];
  }

  /** Mostly up to a snapshot there is. */
  async #pruneJournal(): Promise<Operation> {
    const [name, epoch] = [this.#name(), this.#epoch()];
    const head = await this.#model.readHead(name);
    const found = head && (await this.#model.readAt(name, 1 + this.#chance.below(head.seq)));
    const seq = found?.snapshot?.seq ?? this.#chance.below(6);
    const seen = this.#seen();
    return operation("pruneJournal", [name, seq, epoch, seen], (store) =>
      store.pruneJournal(name, seq, epoch, seen),
    );
  }

  async #mend(): Promise<Operation> {
    const [name, epoch] = [this.#name(), this.#epoch()];
    const drawn = await drawMending({ chance: this.#chance, model: this.#model, now: this.#now, name });
    return operation("mend", [name, drawn.shown, epoch], async (store) =>
      store.mend(await drawn.on(store), epoch),
    );
  }

  #due(): Operation {
    const now = this.#now + this.#chance.below(5_000);
    return operation("due", now, (store) => store.due(now, 1_000));
  }

  /** A run that another stands on, if there is one of the same tenant. */
  async #source(name: RunName): Promise<RunName> {
    const heads = await this.#model.findRuns({ tenant: name.tenant, limit: 100 });
    const forked = heads.flatMap(({ tenant, fork }) =>
      fork === undefined ? [] : [{ tenant, run: fork.run }],
    );
    return this.#chance.pick([name, ...forked]);
  }

  async #read(): Promise<Operation> {
    const chance = this.#chance;
    const [name, key] = [this.#name(), chance.pick(pools.activity)];
    const [from, seq, limit] = [chance.below(6), chance.below(12), 1 + chance.below(6)];
    const { tenant } = name;
    const source = await this.#source(name);
    const query = await this.#query(tenant);
    const subject = chance.pick(pools.subject);
    const known = { ...name, seq, digest: entryOf(name, seq).digest };
    const after = chance.pick([Number.NEGATIVE_INFINITY, this.#now]);
    return chance.pick([
      operation("nextDue", after, (store) => store.nextDue(after)),
      operation("readKeys", name, (store) => store.readKeys(name, pools.key)),
      operation("readHead", name, (store) => store.readHead(name)),
      operation("readForks", source, (store) => store.readForks(source)),
      operation("load", name, (store) => store.load(name)),
      operation("load", known, (store) => store.load(name, known)),
      operation("readInbox", [name, limit], (store) => store.readInbox(name, limit)),
      this.#readDeadLetters(tenant, from, limit),
      operation("readAt", [name, seq], (store) => store.readAt(name, seq)),
      operation("readJournal", [name, from, limit], (store) => store.readJournal(name, from, limit)),
      operation("readContents", subject, (store) => store.readContents(tenant, subject, pools.digest)),
      operation("findRuns", query, (store) => store.findRuns(query)),
      operation("readChunks", [name, key, from], (store) => store.readChunks(name, key, from, limit)),
      operation("readDocument", tenant, (store) => store.readDocument(tenant, pools.document[0])),
    ]);
  }

  /** Mostly that of a run there is, as whoever reads page by page gives it. */
  async #place(tenant: string): Promise<NonNullable<RunQuery["after"]>> {
    const runs = await this.#model.findRuns({ tenant, limit: 1_000 });
    if (runs.length > 0 && this.#chance.percent(70)) {
      const { createdAt, run } = this.#chance.pick(runs);
      return { createdAt, run };
    }
    return { createdAt: noon + this.#chance.below(this.#now - noon + 1), run: this.#chance.pick(pools.run) };
  }

  async #query(tenant: string): Promise<RunQuery> {
    const chance = this.#chance;
    const attributes = { stage: chance.below(3), ...(chance.percent(40) ? { urgent: true } : {}) };
    return {
      tenant,
      limit: 1 + chance.below(5),
      ...(chance.percent(30) ? { subject: chance.pick(pools.subject) } : {}),
      ...(chance.percent(20) ? { status: chance.pick(pools.status) } : {}),
      ...(chance.percent(20) ? { createdFrom: noon + chance.below(60_000) } : {}),
      ...(chance.percent(20) ? { createdBefore: noon + chance.below(120_000) } : {}),
      ...(chance.percent(30) ? { after: await this.#place(tenant) } : {}),
      ...(chance.percent(50) ? { attributes } : {}),
    };
  }
}

/** To the end, since how many rows there are is each store's own business. */
const sweepAll: Operation = operation("sweep", [], async (store) => {
  let swept = 0;
  for (let rows = await store.sweep(7); rows > 0; rows = await store.sweep(7)) swept += rows;
  return swept > 0;
});

function operation(verb: keyof Store, parameters: unknown, call: Operation["call"]): Operation {
  return { verb, parameters, call };
}
