/** Identity and chance, as ports: the one place where the runtime meets randomness. */
import { randomUUIDv7 } from "node:crypto";

export interface Ids {
  /** A new id; later ones sort after earlier ones. */
  next(): string;
  /** A number from 0 up to 1. */
  chance(): number;
}

export const systemIds: Ids = {
  next: () => randomUUIDv7(),
  chance: () => Math.random(),
};
