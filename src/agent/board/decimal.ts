/** Numbers as the decimals they are written as, in whole units of their last place: sums of these are exact. */

/** How many places a number has behind its point. */
export function decimalsOf(value: number): number {
  const [, digits = "", exponent = "0"] = partsOf(value);
  return Math.max(0, digits.length - Number(exponent));
}

/** A number in units of a place behind the point that it has no digits after. */
export function unitsOf(value: number, decimals: number): bigint {
  const [whole = "0", digits = "", exponent = "0"] = partsOf(value);
  return BigInt(whole + digits) * 10n ** BigInt(decimals + Number(exponent) - digits.length);
}

/** The number of so many units. */
export const numberOf = (units: bigint, decimals: number): number => Number(`${units}e-${decimals}`);

/** Whole digits, those behind the point, and the exponent, as it is written. */
const partsOf = (value: number): readonly (string | undefined)[] =>
  (/^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []).slice(1);
