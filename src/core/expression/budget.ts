/**
 * What one evaluation may cost. Everything an expression does is paid for here before it is done, so that neither
 * nested comprehensions nor growing texts nor values that contain each other many times can hold a step up.
 */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";

/** What all the expressions of one step of a machine may cost together. */
export interface Purse {
  left: number;
}

export function newPurse(): Purse {
  return { left: limits.expressionStepsPerStepMax };
}

/** What one expression may cost, paid from its step's purse as well. */
export class Budget {
  private left: number = limits.expressionStepsMax;
  private readonly purse: Purse;

  constructor(purse: Purse = newPurse()) {
    this.purse = purse;
  }

  /** Pays for this many steps; throws EXPRESSION_TOO_COSTLY when there are none left. */
  spend(steps: number): void {
    this.left -= steps;
    this.purse.left -= steps;
    if (this.left >= 0 && this.purse.left >= 0) return;
    const what =
      this.left < 0
        ? `The expression needs more than ${limits.expressionStepsMax} steps`
        : `The expressions of this step need more than ${limits.expressionStepsPerStepMax} steps together`;
    throw new HoldfastError("EXPRESSION_TOO_COSTLY", `${what}: look at less, or do it in an activity`);
  }

  /** Pays for an error that does not matter in the end. One that says that nothing is left to spend always does. */
  spendError(): void {
    this.spend(stepsPerError);
  }

  /** Pays for looking at, or making, a text of that length. */
  spendText(length: number): void {
    this.spend(1 + Math.ceil(length / charactersPerStep));
  }
}

/** Making an error, with its trace, takes about as long as this many steps. */
const stepsPerError = 50;
/** Characters that take about as long as one step. */
const charactersPerStep = 16;

/** Refuses a result that is too large when written out, however often the same value is in it. */
export function checkSize(value: unknown): void {
  const sizes = new Map<object, number>();
  const sizeOf = (one: unknown): number => {
    if (typeof one === "string") return 1 + one.length / charactersPerStep;
    if (typeof one !== "object" || one === null) return 1;
    const known = sizes.get(one);
    if (known !== undefined) return known;
    let size = 1;
    for (const item of Array.isArray(one) ? one : Object.values(one)) size += sizeOf(item);
    sizes.set(one, size);
    return size;
  };
  if (sizeOf(value) > limits.expressionResultMax)
    throw new HoldfastError(
      "EXPRESSION_TOO_COSTLY",
      `The expression gives a value of more than ${limits.expressionResultMax} parts: keep less in one place`,
    );
}
