/**
 * A worker process on PostgreSQL, and its clients in one. Its lanes send numbered events to runs, each the next number
 * only after the last one was acknowledged, and a number that was refused or not answered again under its key. It says
 * `sent RUN EVENT N TIME` before it tries for the first time and `acked RUN EVENT N TIME` once the event is durable; tools
 * say when they act.
 *
 * `worker.ts URL NAME` works until SIGTERM, and does nothing at all for a while when it hears SIGUSR2. Its connections have
 * its number for a name. It does not mind a store that nobody can reach or that another process owns:
 * it tries again, with another runtime if it must.
 */
import { writeSync } from "node:fs";
import { createRuntime, isHoldfastError, type Receipt, type Run, type Runtime } from "holdfast";
import { postgres } from "holdfast/postgres";
import { moment } from "../kill/ledger.ts";
import { machineEntries, machines } from "../kill/machines.ts";

type Kind = "count" | "nap" | "boss" | "mail";

/** The lanes of a worker, by what their runs do. */
const kinds: readonly Kind[] = ["count", "count", "count", "nap", "boss", "mail"];
/** How many numbers a run gets before the lane goes on with the next. */
const numbersPerRun = 60;
/** How long to wait before a store that failed is asked again, or one that is owned. */
const [againMs, ownedMs] = [25, 300];
/** How long a lane rests between two numbers at most. */
const restMsMax = 10;
/** How long it does nothing: longer than others wait for a sign of life. */
const blockedMs = 4_500;

const say = (line: string) => writeSync(1, `${line}\n`);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const codeOf = (error: unknown): string => (isHoldfastError(error) ? error.code : "none");

/** The runtime that works now: another one when the last has ended. */
class Works {
  readonly #url: string;
  #runtime: Promise<Runtime> | undefined;
  isClosing = false;

  constructor(url: string) {
    this.#url = url;
  }

  get current(): Promise<Runtime> {
    this.#runtime ??= this.#create();
    return this.#runtime;
  }

  async #create(): Promise<Runtime> {
    for (;;) {
      try {
        const runtime = await createRuntime({ store: postgres(this.#url), machines: machineEntries(say) });
        say("up");
        return runtime;
      } catch (error) {
        const code = codeOf(error);
        if (code !== "STORE_OWNED" && code !== "STORE_UNAVAILABLE") throw error;
        if (this.isClosing) process.exit(0);
        await pause(ownedMs);
      }
    }
  }

  /** It has ended: the next one is another. */
  async replace(ended: Runtime): Promise<void> {
    if ((await this.#runtime) !== ended) return;
    this.#runtime = undefined;
    say("down");
    await ended.close().catch(() => {});
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.#runtime !== undefined) await (await this.#runtime).close();
  }

  /** Does it until it is done, however often the store cannot be reached. */
  async insist<Answer>(work: (runtime: Runtime) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const runtime = await this.current;
      try {
        return await work(runtime);
      } catch (error) {
        // Whoever closes does not want to hear of it.
        if (this.isClosing) return await new Promise<never>(() => {});
        const code = codeOf(error);
        if (code === "STORE_OWNED" || code === "RUNTIME_CLOSED") await this.replace(runtime);
        else if (code !== "STORE_UNAVAILABLE") throw error;
        await pause(againMs);
      }
    }
  }
}

/** One run of a lane. */
interface Stage {
  readonly id: string;
  readonly works: Works;
}

const deliver = ({ id, works }: Stage, type: string, n: number): Promise<Receipt> =>
  works.insist(async (runtime) => (await runtime.run(id)).send(type, n, { key: `${type} ${n}` }));

async function send(stage: Stage, type: string, n: number): Promise<void> {
  say(`sent ${stage.id} ${type} ${n} ${Date.now()}`);
  await deliver(stage, type, n);
  say(`acked ${stage.id} ${type} ${n} ${Date.now()}`);
}

/** Waits until the run has taken a number that was sent, and has come to this state after it: a lane is never ahead of its run. */
async function wait(stage: Stage, type: string, n: number, state: string): Promise<void> {
  const { id, works } = stage;
  // The receipt of before may be of a runtime that has ended; a repeat gets the same one.
  await works.insist(async () => (await deliver(stage, type, n)).handled());
  await works.insist(async (runtime) => (await runtime.run(id)).waitFor(state as never));
}

/** What a lane does with each number. */
const turns: Readonly<Record<Kind, (stage: Stage, n: number) => Promise<void>>> = {
  async count(stage, n) {
    await send(stage, "add", n);
    if (n % 5 !== 0) return;
    const { id, works } = stage;
    await wait(stage, "call", n, "open");
    const { context } = await works.insist(async (runtime) => (await runtime.run(id)).state());
    for (const key of (context as unknown as { answers: string[] }).answers.slice(-1))
      say(`answered ${key} ${moment()}`);
  },
  async nap(stage, n) {
    await Promise.all([send(stage, "nap", n), send(stage, "later", 2 * n)]);
    await send(stage, "later", 2 * n + 1);
    await wait(stage, "nap", n, "awake");
  },
  async boss(stage, n) {
    await send(stage, "delegate", n);
    await wait(stage, "delegate", n, "idle");
  },
  async mail(stage, n) {
    await send(stage, "mail", n);
    await wait(stage, "mail", n, "idle");
  },
};

async function lane(works: Works, kind: Kind, name: string): Promise<never> {
  for (let count = 0; ; count++) {
    const stage = { id: `${name}-${count}`, works };
    await works.insist(
      (runtime) => runtime.start(machines[kind] as never, { id: stage.id }) as unknown as Promise<Run>,
    );
    for (let n = 0; n < numbersPerRun; n++) {
      await turns[kind](stage, n);
      await pause(Math.random() * restMsMax);
    }
  }
}

const [url, name] = process.argv.slice(2);
if (url !== undefined) {
  process.env.PGAPPNAME = String(process.pid);
  process.on("SIGUSR2", () => {
    for (const until = Date.now() + blockedMs; Date.now() < until; );
  });
  const works = new Works(url);
  process.once("SIGTERM", () => {
    void works.close().then(
      () => process.exit(0),
      (error: unknown) => {
        // Nobody is left to give the store back to.
        process.exit(codeOf(error) === "STORE_UNAVAILABLE" ? 0 : 1);
      },
    );
  });
  await Promise.all(kinds.map((kind, index) => lane(works, kind, `${kind}-${name}${index}`)));
}
