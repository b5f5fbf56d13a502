/** Texts cut to a length, for models and people who read them. */

/** The text in at most so many characters: its beginning and its end, and between them how much was left out. Never half a character. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return whole(text);
  const mark = (left: number) => ` … ${left} characters left out … `;
  const room = maxChars - mark(text.length).length;
  // Where not even that fits there is only a beginning.
  if (room < 2) return whole(text.slice(0, Math.max(0, maxChars)));
  const head = Math.ceil(room * 0.7);
  const [first, last] = [whole(text.slice(0, head)), whole(text.slice(text.length - (room - head)))];
  return `${first}${mark(text.length - first.length - last.length)}${last}`;
}

/** The text without the halves of characters at its ends, or anywhere; what was whole stays. */
function whole(text: string): string {
  const ends = text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
  return ends.isWellFormed() ? ends : ends.toWellFormed();
}
