/**
 * Arrays in PostgreSQL's binary form, one value each: a header (dimensions, nulls, the items' type, how many, the first
 * index) and then each item with its length before it. The driver would write them as text, every item quoted, and bytes
 * as hexadecimal digits.
 *
 * https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES
 */

const headerBytes = 20;
const types = { bigint: 20, text: 25, float8: 701, bytea: 17 } as const;

/** `bigint[]`, of whole numbers that are safe. */
export function bigints(values: readonly number[]): Buffer {
  const array = begin(types.bigint, values.length, values.length * 8);
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(8, at);
    const high = Math.floor(value / 0x1_0000_0000);
    at = array.writeInt32BE(high, at);
    at = array.writeUInt32BE(value - high * 0x1_0000_0000, at);
  }
  return array;
}

/** `float8[]`. */
export function doubles(values: readonly number[]): Buffer {
  const array = begin(types.float8, values.length, values.length * 8);
  let at = headerBytes;
  for (const value of values) at = array.writeDoubleBE(value, array.writeInt32BE(8, at));
  return array;
}

/** `text[]`. */
export function texts(values: readonly string[]): Buffer {
  // A unit of a string is at most three bytes.
  const most = values.reduce((sum, { length }) => sum + length * 3, 0);
  const array = begin(types.text, values.length, most);
  let at = headerBytes;
  for (const value of values) {
    const size = array.write(value, at + 4, "utf8");
    at = array.writeInt32BE(size, at) + size;
  }
  return array.subarray(0, at);
}

/** `bytea[]`. */
export function byteArrays(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, { length }) => sum + length, 0);
  const array = begin(types.bytea, values.length, size);
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(value.length, at);
    array.set(value, at);
    at += value.length;
  }
  return array;
}

function begin(type: number, length: number, size: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + length * 4 + size);
  // An array of no items has no dimension.
  for (const [index, value] of [length === 0 ? 0 : 1, 0, type, length, 1].entries())
    array.writeInt32BE(value, index * 4);
  return length === 0 ? array.subarray(0, 12) : array;
}
