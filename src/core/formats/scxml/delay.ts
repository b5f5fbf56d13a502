/** A delay as SCXML writes it, a CSS2 time (`500ms`, `1.5s`), in milliseconds; undefined if it is not one. */
export function delayMs(text: string): number | undefined {
  const match = /^\s*\+?(\d+(?:\.\d*)?|\.\d+)(ms|s)\s*$/i.exec(text);
  if (match === null) return undefined;
  const [, digits, unit] = match;
  return Number(digits) * (unit!.toLowerCase() === "s" ? 1000 : 1);
}
