import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { conformance } from "../conformance/index.ts";
import type { Store } from "../store.ts";
import { fileStore } from "./store.ts";

async function open() {
  const directory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-"));
  let store = fileStore({ directory });
  await store.open();
  const reopen = async (): Promise<Store> => {
    await store.close();
    store = fileStore({ directory });
    await store.open();
    return store;
  };
  const dispose = async (): Promise<void> => {
    await store.close();
    rmSync(directory, { recursive: true });
  };
  return { store, reopen, dispose };
}

conformance({ name: "the file store", test: { describe, test, expect }, open });
