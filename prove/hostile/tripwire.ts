/** Tripwires around everything an attack must not reach: files, the network, other processes, the built-in prototypes. */
import childProcess from "node:child_process";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

type Functions = Record<string, unknown>;

/** Puts a wire before every function of these objects; whoever calls one is told of, and stopped. */
export function layWires(touched: (what: string) => void): void {
  const wire = (owner: object, name: string, of: string) => {
    const original = (owner as Functions)[name];
    if (typeof original !== "function" || !Object.getOwnPropertyDescriptor(owner, name)?.writable) return;
    (owner as Functions)[name] = () => {
      touched(`${of}.${name}`);
      throw new Error(`${of}.${name} is out of bounds`);
    };
  };
  const all = {
    fs,
    "fs.promises": fs.promises,
    dns,
    "dns.promises": dns.promises,
    http,
    https,
    childProcess,
  };
  for (const [of, owner] of Object.entries(all)) for (const name of Object.keys(owner)) wire(owner, name, of);
  wire(net.Socket.prototype, "connect", "net");
  wire(globalThis, "fetch", "global");
  for (const name of ["exit", "kill", "abort", "dlopen", "chdir"]) wire(process, name, "process");
  syncBuiltinESMExports();
}

const prototypes = [
  Object,
  Array,
  Function,
  String,
  Number,
  Boolean,
  Map,
  Set,
  RegExp,
  Promise,
  Error,
  Symbol,
].map(({ prototype }) => prototype as object);

/** A look at the built-in prototypes: gives what has changed since it was made. */
export function watchPrototypes(): () => string | undefined {
  const before = prototypes.map(
    (one) => new Map(Reflect.ownKeys(one).map((key) => [key, Object.getOwnPropertyDescriptor(one, key)])),
  );
  return () => {
    for (const [index, one] of prototypes.entries()) {
      const known = before[index];
      for (const key of Reflect.ownKeys(one)) {
        const was = known?.get(key);
        const is = Object.getOwnPropertyDescriptor(one, key);
        if (was === undefined || was.value !== is?.value || was.get !== is?.get)
          return `${one.constructor.name}.prototype.${String(key)}`;
      }
      if (known?.size !== Reflect.ownKeys(one).length) return `${one.constructor.name}.prototype`;
    }
    return undefined;
  };
}
