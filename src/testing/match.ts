/** Whether a value is what was expected of it, and which name was probably meant. Pure. */

/** A difference, with the place it is in. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Where a value is not as expected. Of an object, only what is named is looked at, all the way down; a list must have the
 * same length. A function is asked whether it likes the value; so are the matchers of test runners.
 */
export function mismatches(expected: unknown, actual: unknown, path: string): Difference[] {
  if (typeof expected === "function") return expected(actual) === true ? [] : [{ path, expected, actual }];
  if (isMatcher(expected)) return expected.asymmetricMatch(actual) ? [] : [{ path, expected, actual }];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [{ path, expected, actual }];
    return expected.flatMap((item, index) => mismatches(item, actual[index], `${path}[${index}]`));
  }
  if (isRecord(expected)) {
    if (!isRecord(actual)) return [{ path, expected, actual }];
    return Object.entries(expected).flatMap(([key, value]) =>
      mismatches(value, actual[key], `${path}.${key}`),
    );
  }
  return Object.is(expected, actual) ? [] : [{ path, expected, actual }];
}

/** Where two JSON values differ, whatever only one of them has included. */
export function differences(expected: unknown, actual: unknown, path: string): Difference[] {
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return expected.flatMap((item, index) => differences(item, actual[index], `${path}[${index}]`));
  if (isRecord(expected) && isRecord(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => differences(expected[key], actual[key], `${path}.${key}`));
  }
  return JSON.stringify(expected) === JSON.stringify(actual) ? [] : [{ path, expected, actual }];
}

interface Matcher {
  asymmetricMatch(actual: unknown): boolean;
}

function isMatcher(value: unknown): value is Matcher {
  return typeof (value as Partial<Matcher> | null | undefined)?.asymmetricMatch === "function";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
