/**
 * The follower: for whoever waits here for what becomes of a run, it looks whether that happened elsewhere; at once when it is
 * told of it, and by itself in between, soon and then less and less often where nothing is heard.
 */
import type { Fleet } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Clock } from "../clock.ts";
import type { LiveRun } from "../live/live-run.ts";
import type { Mark, Waiting } from "../standing.ts";

/** How often it looks by itself: whoever cancels what runs elsewhere waits no longer than a second for that to end. */
const lookMs = 500;
/** How soon it first looks where nothing is heard; each time after that it waits twice as long, up to the above. */
const deafLookMs = 5;

export interface FollowerWorld {
  readonly fleet: Pick<Fleet, "readSeqs">;
  readonly clock: Clock;
  /** Whether it is told of what happens elsewhere. */
  isHearing(): boolean;
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
  /** Of runs that nothing was heard of since. */
  readonly #marks = new RunMap<{ isPassed: boolean }>();
  #isLooking = false;
  /** Whether something may have happened while it looked. */
  #again = false;
  #deafMs = lookMs;
  #stopTimer: () => void = () => {};
  #isStopped = false;

  constructor(world: FollowerWorld) {
    this.#world = world;
  }

  start(): void {
    this.#lookIn(lookMs);
  }

  #lookIn(ms: number): void {
    this.#stopTimer();
    if (this.#isStopped) return;
    this.#stopTimer = this.#world.clock.after(ms, () => {
      this.#deafMs = Math.min(2 * this.#deafMs, lookMs);
      this.look(undefined);
      this.#lookIn(this.#world.isHearing() ? lookMs : this.#deafMs);
    });
  }

  /** Somebody has begun to wait: where nothing is heard it looks soon. One who comes after does not put that off. */
  #hasten(): void {
    if (this.#world.isHearing() || this.#deafMs === deafLookMs) return;
    this.#deafMs = deafLookMs;
    this.#lookIn(deafLookMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** Says later whether something may have become of a run by then. */
  mark(name: RunName): Mark {
    const mark = this.#marks.get(name) ?? { isPassed: false };
    this.#marks.set(name, mark);
    return mark;
  }

  #pass(names: readonly RunName[] | undefined): void {
    for (const mark of names?.flatMap((name) => this.#marks.get(name) ?? []) ?? this.#marks.values())
      mark.isPassed = true;
    if (names === undefined) this.#marks.clear();
    else for (const name of names) this.#marks.delete(name);
  }

  /** What `ask` finds, asked now unless nothing was heard of the run since a mark, and whenever something became of it. */
  until<Answer>(
    name: RunName,
    ask: () => Promise<Answer | undefined>,
    since: Mark = { isPassed: true },
  ): Waiting<Answer> {
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
    if (since.isPassed) void question.ask();
    this.#hasten();
    return { told: promise, look: () => void question.ask(), cancel };
  }

  /** Something may have become of these runs; of any, if they are not named. */
  look(names: readonly RunName[] | undefined): void {
    this.#pass(names);
    const asked = names?.flatMap((name) => this.#asked.get(name) ?? []) ?? [...this.#asked.values()];
    const answers = asked.flatMap(({ questions }) => [...questions].map((question) => question.ask()));
    // Who has been answered need not see the run itself.
    void Promise.all(answers).then(() => this.#compare(names));
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
