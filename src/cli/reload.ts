/**
 * Loading machines anew when one of the files they were loaded from has other content. Only those are looked at: an activity
 * that writes files beside them, or a file that is saved unchanged, disturbs nobody.
 */
import { type FSWatcher, watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { loadModule } from "./load-machines.ts";
import { LoadedFiles } from "./loaded-files.ts";
import type { Stages } from "./stages.ts";
import { describe } from "./terminal.ts";
import type { World } from "./world.ts";

/** Editors write a file in several steps. */
const settleMs = 120;

export interface Reloading {
  readonly module: string;
  /** Those of the machines there are. */
  readonly files: LoadedFiles;
  readonly stages: Stages;
}

/** Goes on until it is told to stop. */
export async function reloadOnChange(
  { module, files, stages }: Reloading,
  { terminal, stop }: World,
): Promise<void> {
  let known = files;
  const look = new Look((error) => terminal.note(`Changes are not noticed any more: ${describe(error)}`));
  while (!stop.aborted) {
    look.at(known.folders);
    await sleep(settleMs, undefined, { signal: stop }).catch(() => {});
    if (stop.aborted || !look.isDue() || !known.takeChange()) continue;
    const next = new LoadedFiles();
    try {
      await stages.enter(await loadModule(module, next));
      known = next;
      terminal.note("loaded anew");
    } catch (error) {
      known.join(next);
      terminal.note(`not loaded: ${describe(error)}; what was there goes on`);
    }
  }
  look.close();
}

/** Folders, rather than files: an editor puts another file in the place of the one that was watched. */
class Look {
  readonly #watchers = new Map<string, FSWatcher>();
  /** Those that cannot be watched, and were told of. */
  readonly #missing = new Set<string>();
  readonly #failed: (error: unknown) => void;
  #isDue = false;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  at(folders: ReadonlySet<string>): void {
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#begin(folder);
    for (const [folder, watcher] of this.#watchers)
      if (!folders.has(folder)) {
        watcher.close();
        this.#watchers.delete(folder);
      }
  }

  /** Whether something happened in one of them since it was asked last. */
  isDue(): boolean {
    const isDue = this.#isDue;
    this.#isDue = false;
    return isDue;
  }

  close(): void {
    this.at(new Set());
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, () => {
        this.#isDue = true;
      });
      watcher.on("error", this.#failed);
      this.#watchers.set(folder, watcher);
      // What happened before it was watched is not told.
      this.#isDue = true;
    } catch (error) {
      if (!this.#missing.has(folder)) this.#failed(error);
      this.#missing.add(folder);
    }
  }
}
