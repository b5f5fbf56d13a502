/** What was measured: one number for each contestant, question and round. */
import { median } from "../process.ts";

export class Results {
  readonly #values = new Map<string, number[]>();

  add(contestant: string, question: string, round: number, value: number): void {
    const key = `${contestant}: ${question}`;
    const values = this.#values.get(key) ?? [];
    values[round] = value;
    this.#values.set(key, values);
  }

  /** The median of the rounds; undefined if it was not measured. */
  median(contestant: string, question: string): number | undefined {
    const values = this.#of(contestant, question);
    return values.length === 0 ? undefined : median(values);
  }

  /** The median of what the rounds say each for itself, since a slow round is slow for both. */
  ratio(question: string, one: string, other: string): number | undefined {
    const others = this.#of(other, question);
    const ratios = this.#of(one, question).flatMap((value, round) => {
      const beside = others[round];
      return beside === undefined ? [] : value / beside;
    });
    return ratios.length === 0 ? undefined : median(ratios);
  }

  #of(contestant: string, question: string): readonly number[] {
    return this.#values.get(`${contestant}: ${question}`) ?? [];
  }
}
