/** Who acts: the principal of a request, with whose data it is about and what it may. */
import { timingSafeEqual } from "node:crypto";
import type { Role } from "./policy.ts";

export interface Principal {
  /** The id of its key, or `dev`. */
  readonly id: string;
  /** The only tenant it sees. */
  readonly tenant: string;
  readonly role: Role;
  readonly via: "key" | "dev";
}

/** The bearer token of a request's `Authorization`; undefined if it has none. */
export function bearerOf(header: string | null | undefined): string | undefined {
  const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? "") ?? [];
  return token;
}

/** A cookie of a request; undefined if it has none of that name. */
export function cookieOf(header: string | null | undefined, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [key, ...value] = part.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}

/** Whether two secrets are the same, in a time that tells nothing of where they differ. */
export function isSame(given: string, kept: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(kept)];
  return one.length === other.length && timingSafeEqual(one, other);
}
