/**
 * API keys: `hf_<id>_<secret>`. The secret has 256 bits and is told once; what is kept is its SHA-256, which is enough for
 * something nobody can guess. All keys are one document of the store, changed by compare-and-set, so that two servers never
 * undo each other's changes.
 *
 * K1. A key is good only if its secret's digest is the kept one (compared in constant time), it is not revoked, and its time
 *     is not up.
 * K2. A revoked key is refused at once by the server that revoked it, and within `freshMs` by all others. Streams that it
 *     has open end when they are looked at next.
 */
import { hash } from "node:crypto";
import type { JsonObject } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { decode, encode } from "../store/codec.ts";
import type { Store } from "../store/store.ts";
import { isSame, type Principal } from "./identity.ts";
import type { Role } from "./policy.ts";

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly tenant: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

interface KeptKey extends Key {
  readonly digest: string;
}

export interface KeyWorld {
  readonly store: Pick<Store, "readDocument" | "writeDocument">;
  now(): number;
  /** Text that nobody can guess, of so many random bytes. */
  secret(bytes: number): string;
}

export interface NewKey extends Pick<Key, "name" | "role" | "tenant" | "createdBy"> {
  readonly expiresAt?: number;
}

/** Keys are everybody's business, so they are kept with what is nobody's. */
const place = { tenant: "holdfast", name: "keys" } as const;
/** How old what is known of the keys may be. */
const freshMs = 5_000;
/** How often the use of a key is written down. */
const usedMs = 5 * 60_000;

export class Keys {
  readonly #world: KeyWorld;
  #known: readonly KeptKey[] = [];
  #version = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(world: KeyWorld) {
    this.#world = world;
  }

  /** Whose key it is; undefined if it is not good (K1). */
  async principal(key: string): Promise<Principal | undefined> {
    const [, id, secret] = /^hf_([A-Za-z0-9-]{1,32})_([\w-]{1,128})$/.exec(key) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    await this.#refresh();
    const kept = this.#known.find((one) => one.id === id);
    // An unknown id takes as long as a wrong secret.
    const isRight = isSame(digestOf(secret), kept?.digest ?? digestOf(""));
    if (kept === undefined || !isRight || !this.#isGood(kept)) return undefined;
    this.#note(kept);
    return { id: kept.id, tenant: kept.tenant, role: kept.role, via: "key" };
  }

  /** Whether a key that was good still is. */
  async isGood(id: string): Promise<boolean> {
    await this.#refresh();
    const kept = this.#known.find((one) => one.id === id);
    return kept !== undefined && this.#isGood(kept);
  }

  /** Those of a tenant, the newest first. */
  async list(tenant: string): Promise<readonly Key[]> {
    await this.#read();
    return this.#known
      .filter((one) => one.tenant === tenant)
      .map(told)
      .reverse();
  }

  /** How many there are, whoever's. */
  async count(): Promise<number> {
    await this.#read();
    return this.#known.length;
  }

  /** Makes a key; its text is told here and never again. */
  async create(given: NewKey): Promise<Key & { readonly key: string }> {
    const { secret: random, now } = this.#world;
    const id = random(9).replace(/[^A-Za-z0-9]/g, "x");
    const secret = random(32);
    const { name, role, tenant, createdBy, expiresAt } = given;
    const made: KeptKey = {
      ...{ id, name, role, tenant, createdBy, createdAt: now(), digest: digestOf(secret) },
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    await this.#change((keys) => {
      if (keys.filter((one) => one.tenant === tenant).length >= limits.apiKeysMax)
        throw new HoldfastError(
          "NOT_ALLOWED",
          `The tenant has ${limits.apiKeysMax} keys already; revoked and expired ones go after 90 days`,
        );
      return [...keys, made];
    });
    return { ...told(made), key: `hf_${id}_${secret}` };
  }

  /** Revokes a key of a tenant; one that is revoked already stays as it is. Throws API_KEY_UNKNOWN. */
  async revoke(tenant: string, id: string): Promise<Key> {
    const isIt = (one: Key) => one.id === id && one.tenant === tenant;
    const keys = await this.#change((known) => {
      if (!known.some(isIt))
        throw new HoldfastError("API_KEY_UNKNOWN", `There is no key ${JSON.stringify(id)} of this tenant`);
      const revokedAt = this.#world.now();
      return known.map((one) => (isIt(one) && one.revokedAt === undefined ? { ...one, revokedAt } : one));
    });
    return told(keys.find(isIt) as KeptKey);
  }

  #isGood({ revokedAt, expiresAt }: KeptKey): boolean {
    return revokedAt === undefined && (expiresAt === undefined || expiresAt > this.#world.now());
  }

  /** Writes down that a key was used, now and then; nobody waits for it, and it may be lost. */
  #note({ id, lastUsedAt = 0 }: KeptKey): void {
    const now = this.#world.now();
    if (now - lastUsedAt < usedMs) return;
    this.#known = this.#known.map((one) => (one.id === id ? { ...one, lastUsedAt: now } : one));
    this.#change((keys) => keys.map((one) => (one.id === id ? { ...one, lastUsedAt: now } : one))).catch(
      () => {},
    );
  }

  async #refresh(): Promise<void> {
    if (this.#world.now() - this.#readAt < freshMs) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const at = this.#world.now();
    const document = await this.#world.store.readDocument(place.tenant, place.name);
    const version = document?.version ?? 0;
    // It was read before what is known, and came after it.
    if (version < this.#version) return;
    this.#version = version;
    this.#known =
      document === undefined ? [] : (decode(document.bytes, "the keys") as unknown as readonly KeptKey[]);
    this.#readAt = at;
  }

  /** Changes the document, again from what others have made of it if they were faster. */
  async #change(make: (keys: readonly KeptKey[]) => readonly KeptKey[]): Promise<readonly KeptKey[]> {
    for (let attempt = 1; ; attempt++) {
      await this.#read();
      const oldest = this.#world.now() - keptMs;
      const keys = make(this.#known).filter(({ revokedAt = forEver, expiresAt = forEver }) => {
        return Math.min(revokedAt, expiresAt) > oldest;
      });
      const bytes = encode(keys as unknown as JsonObject);
      const { store } = this.#world;
      const version = this.#version;
      if (await store.writeDocument(place.tenant, place.name, version, bytes)) {
        // What was read meanwhile is this, or newer.
        if (this.#version > version) return keys;
        this.#known = keys;
        this.#version = version + 1;
        this.#readAt = this.#world.now();
        return keys;
      }
      if (attempt >= attemptsMax)
        throw new HoldfastError("STORE_UNAVAILABLE", "The keys are being changed all the time; try again");
    }
  }
}

const forEver = Number.POSITIVE_INFINITY;
/** How long a key that is revoked or expired is still listed. */
const keptMs = 90 * 86_400_000;
/** How often a change is tried: keys are changed by people. */
const attemptsMax = 10;

const digestOf = (secret: string): string => hash("sha256", secret, "base64url");

function told({ digest: _digest, ...key }: KeptKey): Key {
  return key;
}
