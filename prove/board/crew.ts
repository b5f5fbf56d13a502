/** The processes of the proof: so many at work at a time, killed one after the other, and replaced by others that go on with what is left. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { byLine } from "../kill/ledger.ts";
import type { History } from "../linearizable/history.ts";
import { putOutCode } from "./put-out.ts";
import type { SectionSaid, Sections } from "./sections.ts";
import type { WorkerPlan } from "./worker.ts";

export interface CrewWorld {
  readonly plan: Pick<WorkerPlan, "seed" | "url" | "perBoard">;
  readonly writes: number;
  readonly sections: number;
  readonly bug: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly history: History;
  readonly ledger: Sections;
  readonly problems: string[];
}

interface Hand {
  readonly name: string;
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  isKilled: boolean;
}

/** One place at work, whoever has it. */
interface Place {
  hand: Hand;
  writes: number;
  sections: number;
  isOver: boolean;
}

type Line = { readonly done: "write" | "section" } | SectionSaid | { readonly id: string };

export class Crew {
  kills = 0;
  /** How many were put out by the others, for want of a sign of life. */
  putOut = 0;
  readonly #world: CrewWorld;
  readonly #places: Place[] = [];
  #count = 0;

  constructor(world: CrewWorld) {
    this.#world = world;
  }

  /** How many writes are done. */
  get writes(): number {
    return this.#places.reduce((sum, { writes }) => sum + writes, 0);
  }

  /** Those that have something left to do. */
  get #open(): Place[] {
    return this.#places.filter(({ isOver }) => !isOver);
  }

  /** What is left, place by place. */
  get left(): string {
    const { writes, sections } = this.#world;
    return this.#open
      .map((one) => `${one.hand.name}: ${writes - one.writes} writes and ${sections - one.sections} leases`)
      .join(", ");
  }

  /** Puts so many processes to work, when all of them are ready. */
  async start(processes: number): Promise<void> {
    for (let count = 0; count < processes; count++)
      this.#places.push({ hand: this.#employ(), writes: 0, sections: 0, isOver: false });
    await Promise.all(this.#places.map(({ hand }) => hand.ready));
    for (const place of this.#places) this.#begin(place);
  }

  /** Resolves when all have done what they had to. */
  async ended(): Promise<void> {
    while (this.#open.length > 0 && this.#world.problems.length === 0)
      await Promise.race(this.#open.map(({ hand }) => hand.ended));
  }

  /** Makes one that can take a place. */
  async standBy(): Promise<Hand> {
    const hand = this.#employ();
    await hand.ready;
    return hand;
  }

  /** Kills whoever has a place, and gives it to another; nobody is killed if all is done. */
  async replace(pick: (places: number) => number, next: Hand): Promise<boolean> {
    const open = this.#open;
    const place = open[pick(open.length || 1)];
    if (place === undefined) return false;
    const { hand } = place;
    this.#world.ledger.killed(hand.name, Date.now());
    hand.isKilled = true;
    hand.child.kill("SIGKILL");
    place.hand = next;
    await hand.ended;
    this.kills++;
    this.#begin(place);
    return true;
  }

  async close(): Promise<void> {
    for (const { hand } of this.#places) await this.dismiss(hand);
  }

  async dismiss(hand: Hand): Promise<void> {
    hand.isKilled = true;
    hand.child.kill("SIGKILL");
    await hand.ended;
  }

  #begin(place: Place): void {
    const { writes, sections } = this.#world;
    const { hand } = place;
    const left = {
      writes: { from: place.writes, to: writes },
      sections: { from: place.sections, to: sections },
    };
    hand.child.stdin.write(`${JSON.stringify(left)}\n`);
    void hand.ended.then(async () => {
      if (place.hand !== hand) return;
      if (hand.child.exitCode !== putOutCode) {
        place.isOver = true;
        return;
      }
      this.putOut++;
      this.#world.ledger.killed(hand.name, Date.now());
      place.hand = this.#employ();
      await place.hand.ready;
      this.#begin(place);
    });
  }

  #employ(): Hand {
    const { plan, bug, env, problems } = this.#world;
    const number = ++this.#count;
    const name = `w${number}`;
    const left = { from: 0, to: 0 };
    const whole: WorkerPlan = { ...plan, name, number, writes: left, sections: left };
    const planted = new URL("./planted.ts", import.meta.url);
    planted.searchParams.set("bug", bug ?? "");
    const args = bug === undefined ? [] : ["--import", planted.href];
    const script = fileURLToPath(new URL("./worker.ts", import.meta.url));
    const child = spawn(
      process.execPath,
      ["--conditions=holdfast-source", ...args, script, JSON.stringify(whole)],
      {
        stdio: ["pipe", "pipe", "pipe"],
        env,
      },
    ) as Hand["child"];
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    // It may be dead by the time it is told something.
    child.stdin.on("error", () => {});
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const hand: Hand = {
      ...{ name, child, ready, isKilled: false },
      ended: new Promise((end) => {
        child.on("close", (code, signal) => {
          if (!hand.isKilled && code !== 0 && code !== putOutCode)
            problems.push(`${name} ended by itself with ${code ?? signal}: ${errors.trim()}`);
          resolve();
          end();
        });
      }),
    };
    child.stdout.setEncoding("utf8").on(
      "data",
      byLine((line) => (line === "ready" ? resolve() : this.#hear(hand, line))),
    );
    return hand;
  }

  #hear(hand: Hand, line: string): void {
    const said = JSON.parse(line) as Line;
    if ("section" in said) this.#world.ledger.hear(said);
    else if ("id" in said) this.#world.history.hear(line);
    else {
      const place = this.#places.find((one) => one.hand === hand);
      if (place !== undefined) place[said.done === "write" ? "writes" : "sections"]++;
    }
  }
}
