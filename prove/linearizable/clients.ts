/** The processes of clients, all at work at the same time. In a fleet they are killed, and others take their places. */
import type { Random } from "../../test/generate/random.ts";
import type { Beginning, ClientPlan } from "./client.ts";
import type { History } from "./history.ts";
import { type Started, startProcess } from "./process.ts";

export interface ClientsWorld {
  readonly plan: Omit<ClientPlan, "clients" | "first">;
  readonly env: NodeJS.ProcessEnv;
  readonly bug: string | undefined;
  readonly random: Random;
  readonly history: History;
  readonly problems: string[];
}

/** How long it is between two kills at least and at most. */
const [peaceMsMin, peaceMsMax] = [500, 3_000];

interface Process extends Started {
  /** The names of its clients. */
  readonly names: ReadonlySet<string>;
}

export class Clients {
  kills = 0;
  readonly #world: ClientsWorld;
  readonly #processes = new Set<Process>();
  #count = 0;
  #perProcess = 1;
  #since = 0;
  #isOver = false;

  constructor(world: ClientsWorld) {
    this.#world = world;
  }

  #make(clients: number, audit?: readonly string[]): Process {
    const { plan, env, bug, history, problems } = this.#world;
    const first = this.#count;
    this.#count += clients;
    const whole: ClientPlan = { ...plan, clients, first, ...(audit && { audit }) };
    const hear = (line: string) => history.hear(line);
    const started = startProcess({ script: "client", args: [JSON.stringify(whole)], env, bug, hear });
    void started.ended.then((problem) => {
      if (problem !== undefined) problems.push(problem);
    });
    const names = new Set(Array.from({ length: clients }, (_, index) => `c${first + index}`));
    return { ...started, names };
  }

  #begin(process: Process, repeats: Beginning["repeats"] = []): void {
    this.#processes.add(process);
    void process.ended.then(() => this.#processes.delete(process));
    process.begin(JSON.stringify({ since: this.#since, repeats } satisfies Beginning));
  }

  /** Lets so many processes of so many clients work, from when all are ready until all have ended. */
  async work(processes: number, perProcess: number, begun: () => void): Promise<void> {
    this.#perProcess = perProcess;
    const all = Array.from({ length: processes }, () => this.#make(perProcess));
    await Promise.all(all.map(({ ready }) => ready));
    this.#since = Number(process.hrtime.bigint());
    for (const one of all) this.#begin(one);
    begun();
    while (this.#processes.size > 0) await Promise.race([...this.#processes].map(({ ended }) => ended));
    this.#isOver = true;
  }

  /** Reads every cell once more. */
  async audit(): Promise<void> {
    const auditor = this.#make(1, [...this.#world.history.cells.keys()]);
    await auditor.ready;
    this.#begin(auditor);
    await auditor.ended;
  }

  /** Of the clients that are at work. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#processes].flatMap(({ names }) => [...names]));
  }

  kill(): void {
    this.#isOver = true;
    for (const { kill } of this.#processes) void kill();
  }

  /** Kills one after the other, as long as there are rounds; another one takes its place, and repeats what it insisted on. */
  killAndReplace(progress: (text: string) => void): void {
    const { random, plan, history, problems } = this.#world;
    const end = this.#since + plan.rounds * plan.roundMs * 1e6;
    const work = async (): Promise<void> => {
      for (;;) {
        const next = this.#make(this.#perProcess);
        await Promise.all([sleep(random.between(peaceMsMin, peaceMsMax)), next.ready]);
        const alive = [...this.#processes];
        if (this.#isOver || process.hrtime.bigint() > end || problems.length > 0 || alive.length === 0)
          return next.kill();
        const victim = random.pick(alive);
        // The other one is there before this one is gone, so that there are always some at work.
        const gone = victim.kill();
        this.#processes.add(next);
        await gone;
        progress(`${++this.kills} kills`);
        this.#begin(next, history.unanswered(victim.names));
      }
    };
    void work();
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
