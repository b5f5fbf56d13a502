/**
 * Random scripts: what users do with runs, on the production runtime in virtual time, through closes and crashes. The same
 * seed is the same script on whatever store, so what it was answered and what it left must be the same as well.
 */
import { isHoldfastError, type Json, type Run, type Runtime } from "holdfast";
import { rowsOf } from "../../src/store/conformance/contents.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import type { Place } from "../../test/runtime/stores.ts";
import { listOf, World } from "../../test/runtime/world.ts";
import { canonical } from "./canonical.ts";
import { deskEntry, deskWith } from "./machines.ts";

/** What one script was answered, act by act, and what it left. */
export type Transcript = readonly { readonly act: string; readonly answer: string }[];

const ids = ["a", "b", "c", "d", "ä", "z😀"] as const;
const tenants = ["default", "other"] as const;
const stages = ["new", "old"] as const;
/** How many runs there are before anything else is done. */
const runsFirst = 3;
/** Long enough to be kept beside the journal. */
const longText = 5_000;

interface Scene {
  readonly shown: unknown;
  play(): Promise<unknown>;
  /** Whether it is part of the world: what users do may wait for what never comes, such as a reply after a crash. */
  readonly isCertain?: true;
}

type Act = (random: Random) => Scene;

/** Plays a script of so many acts on a place. */
export async function playScript(place: Place, seed: number, acts: number): Promise<Transcript> {
  const stage = new Stage(place, seed);
  await stage.open();
  try {
    for (let act = 0; act < acts; act++) await stage.next();
    return await stage.end();
  } finally {
    await stage.dispose();
  }
}

class Stage {
  readonly #world: World;
  readonly #random: Random;
  readonly #transcript: { act: string; answer: string }[] = [];
  readonly #code = { isMended: false };
  readonly #machine = deskWith(this.#code);
  #runtime!: Runtime;
  /** The runs that were begun. */
  readonly #started = new Map<string, readonly [tenant: string, id: string]>();
  #ids = 0;
  #names = 0;

  constructor(place: Place, seed: number) {
    this.#world = new World(place);
    this.#random = createRandom(seed);
  }

  async open(): Promise<void> {
    const { clock, boot } = this.#world;
    const entry = deskEntry(this.#machine, (ms, run) => clock.after(ms, run));
    const next = () => `id-${String(++this.#ids).padStart(9, "0")}`;
    this.#runtime = await boot([entry], { ids: { next, chance: () => 0.5 } });
    await this.#world.rest();
  }

  dispose(): Promise<void> {
    return this.#world.dispose();
  }

  async next(): Promise<void> {
    const [name, act] = this.#started.size < runsFirst ? this.#first : this.#random.pick(this.#acts);
    const { shown, play, isCertain } = act(this.#random);
    const settled = play().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: isHoldfastError(error) ? [error.code, error.message] : String(error) }),
    );
    let answer: unknown = "nothing yet";
    void settled.then((given) => {
      answer = given;
    });
    if (isCertain) await settled;
    await this.#world.rest();
    this.#transcript.push({ act: `${name} ${canonical(shown)}`, answer: canonical(answer) });
  }

  /** Lets everything that is under way come to its end; the transcript, with all that is stored. */
  async end(): Promise<Transcript> {
    await this.#world.clock.advance("3m");
    // A directory is open in one place at a time.
    await this.#world.close(this.#runtime);
    const rows = (await rowsOf(await this.#world.look())) as Record<string, unknown>;
    const left = Object.entries(rows).map(([kind, all]) => ({
      act: `left: ${kind}`,
      answer: canonical(all),
    }));
    return [...this.#transcript, ...left];
  }

  async #run(id: string, tenant: string): Promise<Run> {
    return this.#runtime.run(id, { tenant });
  }

  /** Something done with one of the runs. */
  #with(draw: (random: Random) => { shown?: unknown; play: (run: Run) => Promise<unknown> }): Act {
    return (random) => {
      const known = [...this.#started.values()];
      const [tenant, id] = random.chance(0.95) ? random.pick(known) : [tenants[1], random.pick(ids)];
      const { shown, play } = draw(random);
      return { shown: [tenant, id, shown], play: async () => play(await this.#run(id, tenant)) };
    };
  }

  readonly #start: Act = (random) => {
    const [id, tenant] = [random.pick(ids), random.chance(0.8) ? tenants[0] : tenants[1]];
    const input = random.below(3);
    const attributes = { stage: random.pick(stages), urgent: random.chance(0.5) };
    this.#started.set(canonical([tenant, id]), [tenant, id]);
    const options = { id, tenant, input, attributes, subject: random.pick(["ada", "bob"]) };
    return { shown: options, play: async () => (await this.#runtime.start(this.#machine, options)).head() };
  };

  readonly #singleton: Act = (random) => {
    const singleton = { key: "one", policy: random.pick(["attach", "refuse", "replace"] as const) };
    const options = { singleton, input: random.below(3) };
    return {
      shown: options,
      play: async () => (await this.#runtime.start(this.#machine, options)).id,
    };
  };

  /** An event for a desk. */
  #event(random: Random): { type: string; data: Json; key?: string } {
    const type = random.pick([
      "add",
      "add",
      "add",
      "note",
      "tell",
      "set",
      "unset",
      "call",
      "call",
      "hire",
      "hurry",
      "fire",
      "nap",
      "wake",
      "stop",
      "end",
    ]);
    const key = random.chance(0.3) ? { key: `key ${random.below(12)}` } : {};
    const text = random.chance(0.2) ? "long ".repeat(longText / 5) : `note ${random.below(100)}`;
    const data: Record<string, Json> = {
      add: random.between(-2, 4),
      note: random.pick([text, null, { deep: [{ "": "\u0000 Ω" }] }]),
      tell: { run: random.pick([...ids, "nobody"]), data: text },
      set: { n: random.below(6), delayMs: random.pick([0, 1_000, 30_000, 150_000]) },
      unset: random.below(6),
      call: { fails: random.below(4), value: random.below(70) },
    };
    return { type, data: data[type] ?? null, ...key };
  }

  readonly #send = this.#with((random) => {
    const { type, data, key } = this.#event(random);
    return {
      shown: [type, data, key],
      play: async (run) => (await run.send(type, data, key === undefined ? {} : { key })).handled(),
    };
  });

  readonly #sendAll = this.#with((random) => {
    const events = Array.from({ length: random.between(2, 5) }, () => this.#event(random));
    return {
      shown: events,
      play: async (run) => Promise.all((await run.sendAll(events)).map((receipt) => receipt.handled())),
    };
  });

  readonly #fork = this.#with((random) => {
    const [by, n] = [random.below(4), random.below(9)];
    const [id, edited] = [
      random.chance(0.7) ? random.pick(ids) : `fork ${this.#names++}`,
      random.chance(0.5),
    ];
    const edit = {
      edit: (draft: Record<string, Json>) => {
        draft.n = n;
      },
    };
    return {
      shown: [id, by, edited && n],
      play: async (run) => {
        const at = (await run.head()).seq - by;
        this.#started.set(canonical([run.tenant, id]), [run.tenant, id]);
        return (await run.fork({ id, at, ...(edited ? (edit as never) : {}) })).head();
      },
    };
  });

  readonly #find: Act = (random) => {
    const query = {
      tenant: random.chance(0.8) ? tenants[0] : tenants[1],
      ...(random.chance(0.3)
        ? { status: random.pick(["active", "parked", "done", "cancelled"] as const) }
        : {}),
      ...(random.chance(0.3) ? { subject: random.pick(["ada", "bob"]) } : {}),
      ...(random.chance(0.2) ? { machine: random.pick(["desk", "clerk"]) } : {}),
      ...(random.chance(0.4)
        ? { attributes: { stage: random.pick(stages), ...(random.chance(0.5) ? { urgent: true } : {}) } }
        : {}),
    };
    return { shown: query, play: () => listOf(this.#runtime.find(query)) };
  };

  /** Letters are numbered by each store as it likes, so one is chosen by its place. */
  readonly #letter: Act = (random) => {
    const [place, to] = [random.below(3), random.pick(["discard", "redeliver", ...ids])];
    return {
      shown: [place, to],
      play: async () => {
        const { deadLetters } = this.#runtime;
        const letters = await listOf(deadLetters.list());
        const number = letters[place]?.number;
        if (number !== undefined && to === "discard") await deadLetters.discard(number);
        else if (number !== undefined) await this.#redeliver(number, to);
        return letters.map(({ number: _number, ...letter }) => letter);
      },
    };
  };

  /** What it says when it cannot has the letter's number in it. */
  async #redeliver(number: number, to: string): Promise<void> {
    try {
      await this.#runtime.deadLetters.redeliver(number, to === "redeliver" ? {} : { to });
    } catch (error) {
      throw isHoldfastError(error) ? error.code : error;
    }
  }

  readonly #crash: Act = () => ({
    ...{ shown: "", isCertain: true },
    play: async () => {
      await this.#world.crash(this.#runtime);
      await this.open();
    },
  });

  readonly #close: Act = () => ({
    ...{ shown: "", isCertain: true },
    play: async () => {
      await this.#world.close(this.#runtime);
      await this.open();
    },
  });

  readonly #wait: Act = (random) => {
    const time = random.pick(["1s", "6s", "12s", "30s", "2m"]);
    return { shown: time, isCertain: true, play: () => this.#world.clock.advance(time) };
  };

  readonly #acts: readonly (readonly [name: string, act: Act])[] = [
    ...Array.from({ length: 3 }, () => ["start", this.#start] as const),
    ...Array.from({ length: 14 }, () => ["send", this.#send] as const),
    ...Array.from({ length: 3 }, () => ["send all", this.#sendAll] as const),
    ...Array.from({ length: 4 }, () => ["wait", this.#wait] as const),
    ...Array.from({ length: 2 }, () => ["find", this.#find] as const),
    ...Array.from({ length: 3 }, () => ["fork", this.#fork] as const),
    ["letter", this.#letter],
    ["crash", this.#crash],
    ["close", this.#close],
    ["singleton", this.#singleton],
    ["ask", this.#with(() => ({ play: (run) => run.ask("double", undefined, { timeout: "5m" }) }))],
    ["ask again", this.#with((random) => this.#askAgain(random))],
    ["state", this.#with(() => ({ play: (run) => run.state() }))],
    ["journal", this.#with(() => ({ play: (run) => listOf(run.journal()) }))],
    ["at", this.#with((random) => at(random))],
    ["diff", this.#with(() => ({ play: (run) => run.diff(1) }))],
    ["cancel", this.#with(() => ({ play: (run) => run.cancel() }))],
    ["roll back", this.#with((random) => rollBack(random))],
    ["roll back", this.#with((random) => rollBack(random))],
    ["retry", this.#with(() => ({ play: (run) => run.retry() }))],
    ["pause", this.#with(() => ({ play: (run) => run.pause() }))],
    ["advance", this.#with(() => ({ play: (run) => run.advance() }))],
    ["mend the code", () => ({ shown: "", play: async () => this.#toggle() })],
  ];

  readonly #first = ["start", this.#start] as const;

  #askAgain(random: Random): { shown: unknown; play: (run: Run) => Promise<unknown> } {
    const key = `asked ${random.below(4)}`;
    return { shown: key, play: (run) => run.ask("double", undefined, { key, timeout: "5m" }) };
  }

  #toggle(): boolean {
    this.#code.isMended = !this.#code.isMended;
    return this.#code.isMended;
  }
}

function at(random: Random): { shown: unknown; play: (run: Run) => Promise<unknown> } {
  const seq = random.below(12);
  return { shown: seq, play: (run) => run.at(seq) };
}

function rollBack(random: Random): { shown: unknown; play: (run: Run) => Promise<unknown> } {
  const target = random.chance(0.5) ? { by: random.below(5) } : { to: random.below(10) };
  return { shown: target, play: (run) => run.rollback(target) };
}
