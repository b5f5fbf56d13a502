/**
 * The follower: for whoever waits here for what becomes of a run, it looks whether that happened elsewhere; at once when it is
 * told of it, and by itself in between.
 */
import type { Fleet } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Clock } from "../clock.ts";
import type { LiveRun } from "../live-run.ts";
import type { Waiting } from "../standing.ts";

/** How often it looks by itself: whoever cancels what runs elsewhere waits no longer than a second for that to end. */
const lookMs = 500;

export interface FollowerWorld {
  readonly fleet: Pick<Fleet, "readSeqs">;
  readonly clock: Clock;
  /** Runs of which somebody here wants to know what becomes of them. */
  followed(): Iterable<RunName>;
  live(name: RunName): LiveRun | undefined;
  /** A run was changed elsewhere. */
  moved(name: RunName): void;
}

interface Question {
  ask(): Promise<void>;
}

/** What is asked about a run. */
interface Asked {
  readonly name: RunName;
  readonly questions: Set<Question>;
}

export class Follower {
  readonly #world: FollowerWorld;
  readonly #asked = new RunMap<Asked>();
  #isLooking = false;
  /** Whether something may have happened while it looked. */
  #again = false;
  #stopTimer: () => void = () => {};
  #isStopped = false;

  constructor(world: FollowerWorld) {
    this.#world = world;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#stopTimer = this.#world.clock.after(lookMs, () => {
      this.look(undefined);
      this.start();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** What `ask` finds, asked now and whenever something became of the run. */
  until<Answer>(name: RunName, ask: () => Promise<Answer | undefined>): Waiting<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const { questions } = this.#asked.get(name) ?? { questions: new Set<Question>() };
    this.#asked.set(name, { name, questions });
    const cancel = () => {
      questions.delete(question);
      // It may be done twice, and others may wait by then.
      if (questions.size === 0 && this.#asked.get(name)?.questions === questions) this.#asked.delete(name);
    };
    let [isWanted, isAsking] = [false, false];
    const question: Question = {
      ask: async () => {
        isWanted = true;
        // A store that is slow to answer must not be asked more and more: what happens meanwhile is asked for afterwards.
        if (isAsking) return;
        isAsking = true;
        try {
          while (isWanted && questions.has(question)) {
            isWanted = false;
            const answer = await ask();
            if (answer === undefined) continue;
            resolve(answer);
            cancel();
          }
        } catch (error) {
          reject(error);
          cancel();
        }
        isAsking = false;
      },
    };
    questions.add(question);
    promise.catch(() => {});
    void question.ask();
    return { told: promise, cancel };
  }

  /** Something may have become of these runs; of any, if they are not named. */
  look(names: readonly RunName[] | undefined): void {
    const asked = names?.flatMap((name) => this.#asked.get(name) ?? []) ?? [...this.#asked.values()];
    for (const { questions } of asked) for (const question of questions) void question.ask();
    void this.#compare(names);
  }

  /** Looks for runs that are further in the store than in memory. */
  async #compare(names: readonly RunName[] | undefined): Promise<void> {
    this.#again = this.#isLooking;
    if (this.#isLooking || this.#isStopped) return;
    const followed = new RunMap<RunName>();
    for (const name of this.#world.followed()) followed.set(name, name);
    const wanted = names === undefined ? [...followed.values()] : names.filter((name) => followed.get(name));
    if (wanted.length === 0) return;
    this.#isLooking = true;
    try {
      const seqs = await this.#world.fleet.readSeqs(wanted);
      for (const [index, name] of wanted.entries())
        if (seqs[index] !== (this.#world.live(name)?.head.seq ?? 0)) this.#world.moved(name);
    } catch {
      // It looks again soon.
    }
    this.#isLooking = false;
    if (this.#again) void this.#compare(undefined);
  }
}
