/** Identity and chance, as ports: the one place where the runtime meets randomness. */
import { randomBytes, randomUUIDv7 } from "node:crypto";

export interface Ids {
  /** A new id; later ones sort after earlier ones, which is the order of events in an inbox. */
  next(): string;
  /** A number from 0 up to 1. */
  chance(): number;
}

/** The time of the newest id, and how many came before it in that millisecond. */
let newest = { ms: 0, count: 0 };
const countMax = 0xfff;

/** A UUIDv7 that counts within its millisecond, where those of Node are in no order, and never goes back with the clock. */
function nextId(): string {
  const now = Date.now();
  const { ms, count } = newest;
  if (now > ms) newest = { ms: now, count: 0 };
  else newest = count < countMax ? { ms, count: count + 1 } : { ms: ms + 1, count: 0 };
  const time = newest.ms.toString(16).padStart(12, "0");
  const counted = newest.count.toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}${randomUUIDv7().slice(18)}`;
}

export const systemIds: Ids = {
  next: nextId,
  chance: () => Math.random(),
};

/** Text that nobody can guess: so many random bytes, 32 unless given. */
export const newSecret = (bytes = 32): string => randomBytes(bytes).toString("base64url");
