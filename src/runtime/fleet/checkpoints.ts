/** Where runs stand in the store, asked together: whatever is asked for in one turn of the event loop is one question. */
import type { Fleet } from "../../store/fleet.ts";
import type { RunName } from "../../store/records.ts";
import type { Clock } from "../clock.ts";

export class Checkpoints {
  readonly #fleet: Pick<Fleet, "readSeqs">;
  readonly #clock: Clock;
  #names: RunName[] = [];
  #asked: Promise<readonly number[]> | undefined;

  constructor(fleet: Pick<Fleet, "readSeqs">, clock: Clock) {
    this.#fleet = fleet;
    this.#clock = clock;
  }

  /** The newest checkpoint of a run, as the store has it at some time after the call; 0 if there is no such run. */
  async read(name: RunName): Promise<number> {
    const place = this.#names.push(name) - 1;
    this.#asked ??= new Promise<void>((pass) => this.#clock.soon(pass)).then(() => {
      const names = this.#names;
      this.#names = [];
      this.#asked = undefined;
      return this.#fleet.readSeqs(names);
    });
    return (await this.#asked)[place] as number;
  }
}
