/**
 * Leaving activities to others: whoever sees to their runs now finds them waiting. Until the store says so they are this
 * process's, and nobody else takes them up while it lives: so it is said for as long as that takes.
 *
 * L1. An answer that was lost may hide that somebody has the activity by now. It is taken back before it is left once more.
 * L2. One that is to go on here after all does so once it was taken back, and not while others may find it waiting.
 * L3. So does one that was left and is to begin here: whoever took it over may have done so before it was left, and be slow.
 */
import type { ActivityRow } from "../../store/records.ts";
import type { Clock } from "../clock.ts";
import { sleep } from "../sleep.ts";
import type { Standing } from "../standing.ts";

/** How long to wait before a store that cannot be reached is tried again. */
const unavailableMs = 1_000;
/** How many that were left are known: what was taken over before begins within seconds, or never. */
const leftMax = 10_000;

export interface LeavingWorld {
  readonly clock: Clock;
  readonly standing: Pick<Standing, "adopt" | "tell">;
  /** Replaces the row of an activity; false if it is not wanted any more. */
  record(row: ActivityRow): Promise<boolean>;
}

interface Left {
  /** Goes on with it here after all. */
  goOn?: () => void;
}

export class Leaving {
  readonly #world: LeavingWorld;
  /** Those that are being left or taken back, and those that were left lately. */
  readonly #underWay = new Map<string, Left>();
  readonly #left = new Set<string>();
  readonly #over = new AbortController();

  constructor(world: LeavingWorld) {
    this.#world = world;
  }

  /** Leaves an activity that this process has, and does not run, unless that is under way. */
  leave(row: ActivityRow): void {
    if (!this.#underWay.has(idOf(row))) this.#see(row, {}, true);
  }

  #see(row: ActivityRow, one: Left, isOurs: boolean): void {
    const id = idOf(row);
    this.#underWay.set(id, one);
    void this.#leave(row, one, isOurs).then((goesOn) => {
      this.#underWay.delete(id);
      if (goesOn) return one.goOn?.();
      this.#left.add(id);
      for (const oldest of this.#left) {
        if (this.#left.size <= leftMax) break;
        this.#left.delete(oldest);
      }
    });
  }

  /** Whether an activity is being left, or was; then it goes on when nobody else can have it (L2, L3). */
  takeBack(row: ActivityRow, goOn: () => void): boolean {
    if (this.#underWay.size + this.#left.size === 0) return false;
    const id = idOf(row);
    const one = this.#underWay.get(id);
    const wasLeft = this.#left.delete(id);
    if (one !== undefined) one.goOn = goOn;
    else if (wasLeft) this.#see(row, { goOn }, false);
    return one !== undefined || wasLeft;
  }

  /** Resolves when others find it, or it is not wanted any more; true if it is to go on here. */
  async #leave(row: ActivityRow, one: Left, isOurs: boolean): Promise<boolean> {
    const { clock, standing, record } = this.#world;
    const { signal } = this.#over;
    for (let isFirst = isOurs; !signal.aborted; isFirst = false) {
      try {
        if (!isFirst && !(await standing.adopt([row]))[0]) return false;
        if (!isFirst && one.goOn !== undefined) return true;
        if (await record({ ...row, status: "waiting", dueAt: clock.now() })) standing.tell(row);
        if (one.goOn === undefined) return false;
      } catch {
        await sleep(clock, unavailableMs, signal);
      }
    }
    return false;
  }

  close(): void {
    this.#over.abort();
  }
}

const idOf = ({ tenant, run, key }: ActivityRow): string => JSON.stringify([tenant, run, key]);
