/** What looks like a key, a token or a password, so that it is not remembered. Shapes only: what has none passes. */

/** Each is anchored by a letter or a sign that the match begins with, and has no choice in its length: none can hang. */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(sk|pk|rk)[-_](live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/,
  /\bglpat-[A-Za-z0-9_-]{20,}/,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  /\bA(KIA|SIA)[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{35}\b/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /\b(password|passwort|passphrase|secret|api[-_ ]?key|token|pin)\s{0,3}[:=]\s{0,3}\S{4,}/i,
  // "The token is used for …" is no secret; one has a digit in it.
  /\b(password|passwort|passphrase|secret|api[-_ ]?key|token|pin) (is|ist) (?=\S{0,99}\d)\S{4,}/i,
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,100}:[^\s:/@]{1,100}@/i,
];

/** Whether a text has something in it that should not be kept. */
export function hasSecret(text: string, more: readonly RegExp[] = []): boolean {
  return [...shapes, ...more].some((shape) => text.search(shape) >= 0) || hasCardNumber(text);
}

/** Numbers of payment cards: 13 to 19 digits, perhaps in groups, whose check digit is right (Luhn). */
function hasCardNumber(text: string): boolean {
  for (const [match] of text.matchAll(/\b\d(?:[ -]?\d){12,18}\b/g)) {
    const digits = match.replace(/\D/g, "");
    const sum = [...digits].reverse().reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
    if (sum % 10 === 0 && !/^(\d)\1+$/.test(digits)) return true;
  }
  return false;
}
