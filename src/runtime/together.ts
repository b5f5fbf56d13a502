/**
 * Calls of the store that are made together: what is asked for in one turn of the event loop, or while a call is under way, is
 * one call. As with the commits of the step loop (L3) nothing waits when idle, and groups are large under load.
 *
 * T1. One call at a time, and each asked after the other: what was asked for first is not done later.
 * T2. An answer is of some time after the question.
 */
import type { Clock } from "./clock.ts";

export interface TogetherWorld<Asked, Answer> {
  readonly clock: Pick<Clock, "soon">;
  /** Answers stand in the order of what is asked. What it throws is thrown for all of them. */
  call(asked: readonly Asked[]): Promise<readonly Answer[]>;
  /** How much may go into one call, and how much one of them is, which goes by itself if it is more than that. */
  readonly max: number;
  sizeOf?(asked: Asked): number;
}

interface Question<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Together<Asked, Answer> {
  readonly #world: TogetherWorld<Asked, Answer>;
  #questions: Question<Asked, Answer>[] = [];
  #isCalling = false;

  constructor(world: TogetherWorld<Asked, Answer>) {
    this.#world = world;
  }

  ask(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#questions.push({ asked, resolve, reject });
      if (this.#isCalling) return;
      this.#isCalling = true;
      this.#world.clock.soon(() => void this.#next());
    });
  }

  async #next(): Promise<void> {
    const group = this.#take();
    try {
      const answers = await this.#world.call(group.map(({ asked }) => asked));
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#isCalling = this.#questions.length > 0;
    if (this.#isCalling) this.#world.clock.soon(() => void this.#next());
  }

  #take(): readonly Question<Asked, Answer>[] {
    const { max, sizeOf = () => 1 } = this.#world;
    let [count, size] = [0, 0];
    for (const { asked } of this.#questions) {
      size += sizeOf(asked);
      if (count > 0 && size > max) break;
      count++;
    }
    return this.#questions.splice(0, count);
  }
}
