/**
 * JSON to bytes and back. Closed: plain JSON and nothing else, no tags inside user data. Bytes are assumed hostile on
 * the way in: what is too large, too deep, cut short or not ours is refused with STORE_CORRUPT, never half-read.
 *
 * The first byte says how the rest is written: 0 as it is, 1 compressed with zstd. Then come four bytes of a checksum of
 * the rest: disks lie, and a digit with one bit changed is still JSON.
 */
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { isSound, type Json, toJson } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

const plain = 0;
const compressed = 1;
const headerBytes = 5;
const depthMax = limits.jsonDepthMax + limits.recordDepthMax;

/** JSON as bytes; large values are compressed. Throws VALUE_TOO_LARGE beyond `limits.valueBytesMax`. */
export function encode(value: Json): Uint8Array {
  return encodeSized(value).bytes;
}

/** The same, with the size it had before compression: what it will cost to read. */
export function encodeSized(value: Json): { readonly bytes: Uint8Array; readonly size: number } {
  const text = JSON.stringify(value);
  const size = Buffer.byteLength(text);
  if (size > limits.valueBytesMax) {
    throw new HoldfastError(
      "VALUE_TOO_LARGE",
      `A value of ${size} bytes is more than a store keeps in one piece (${limits.valueBytesMax}); keep large files elsewhere and refer to them`,
    );
  }
  const bytes = Buffer.allocUnsafe(headerBytes + size);
  bytes.write(text, headerBytes);
  // The sum of a text is that of its bytes, and a short one is quicker to sum than a view of bytes is made.
  if (size < limits.compressedBytesMin) return { bytes: withSum(plain, bytes, crc32(text)), size };
  const packed = zstdCompressSync(bytes.subarray(headerBytes));
  if (packed.length >= size) return { bytes: withHeader(plain, bytes), size };
  return { bytes: withHeader(compressed, Buffer.concat([Buffer.allocUnsafe(headerBytes), packed])), size };
}

/** Fills in what stands before the body. */
function withHeader(kind: number, bytes: Buffer): Uint8Array {
  return withSum(kind, bytes, crc32(bytes.subarray(headerBytes)));
}

function withSum(kind: number, bytes: Buffer, sum: number): Uint8Array {
  bytes[0] = kind;
  // By hand, as it is read: a number that may be too large for a small integer costs `writeUInt32BE` as much as the sum.
  bytes[1] = sum >>> 24;
  bytes[2] = sum >>> 16;
  bytes[3] = sum >>> 8;
  bytes[4] = sum;
  return bytes;
}

/** Bytes of the first format, which had no checksum, with one; throws STORE_CORRUPT if they hold no JSON. */
export function withChecksum(bytes: Uint8Array): Uint8Array {
  const summed = withHeader(bytes[0] as number, Buffer.concat([Buffer.allocUnsafe(4), bytes]));
  decode(summed, "a value without a checksum");
  return summed;
}

/** The JSON that `encode` made these bytes from. `what` names it in the error. */
export function decode(bytes: Uint8Array, what: string): Json {
  return decodeSized(bytes, what).value;
}

/** The same, with the size that `encodeSized` told. */
export function decodeSized(
  bytes: Uint8Array,
  what: string,
): { readonly value: Json; readonly size: number } {
  try {
    const body = unpack(bytes);
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    const value = isSound(parsed, depthMax)
      ? (parsed as Json)
      : toJson(parsed, [], what, undefined, depthMax);
    return { value, size: body.length };
  } catch (cause) {
    throw new HoldfastError("STORE_CORRUPT", `${what} cannot be read: its stored bytes are damaged`, {
      cause,
    });
  }
}

function unpack(bytes: Uint8Array): Buffer {
  if (bytes.byteLength < headerBytes) throw new Error("cut short");
  const body = Buffer.from(bytes.buffer, bytes.byteOffset + headerBytes, bytes.byteLength - headerBytes);
  if (sumOf(bytes) !== crc32(body)) throw new Error("checksum");
  if (bytes[0] === plain) return body;
  if (bytes[0] === compressed) {
    // Texts become about a quarter: in chunks of that size most are read in one piece, which halves the time.
    const chunkSize = Math.max(16_384, body.length * 4);
    return zstdDecompressSync(body, { maxOutputLength: limits.valueBytesMax, chunkSize });
  }
  throw new Error(`unknown encoding ${bytes[0]}`);
}

/** The checksum in the header. By hand: a run has hundreds of entries, and a view for each costs more than reading it. */
function sumOf(bytes: Uint8Array): number {
  const at = (index: number) => bytes[index] as number;
  return ((at(1) << 24) | (at(2) << 16) | (at(3) << 8) | at(4)) >>> 0;
}

/** The JSON text in bytes that were not compressed, as it stands there; undefined for any other bytes. */
export function plainText(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== plain || bytes.byteLength < headerBytes) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", headerBytes);
  return Buffer.compare(plainBytes(text), bytes) === 0 ? text : undefined;
}

/** The bytes of a JSON text that is not to be compressed, whatever its size. */
export function plainBytes(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(text));
  bytes.write(text, headerBytes);
  return withHeader(plain, bytes);
}
