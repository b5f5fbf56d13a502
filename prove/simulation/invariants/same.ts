/** Whether two values are the same JSON, in whatever order their keys come; what is undefined counts as absent. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, place) => isSame(item, other[place]))
    );
  return !Array.isArray(other) && hasSameFields(one as Fields, other as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function hasSameFields(one: Fields, other: Fields): boolean {
  let more = 0;
  for (const name in one) {
    if (one[name] === undefined) continue;
    if (!isSame(one[name], other[name])) return false;
    more++;
  }
  for (const name in other) if (other[name] !== undefined) more--;
  return more === 0;
}
