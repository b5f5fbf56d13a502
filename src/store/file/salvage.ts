/**
 * What is left of a run whose `<run>.json` is damaged: its journal and its snapshots have files of their own. The rest is
 * read from what can still be read of the damaged file, and made up where it cannot: nothing but tools gets to see it, and
 * those know that it is damaged. Events that waited, keys and attempts stood nowhere else.
 */
import { type RunHead, type RunStatus, statuses } from "../records.ts";
import { readWhole } from "./files.ts";
import { type Folder, places } from "./folder.ts";
import { nameIn } from "./names.ts";
import { FileRun } from "./run-rows.ts";

/** The run of a file, by its name; undefined where a long name was cut, so that nobody can tell. */
export function salvage(folder: Folder, file: string, tell: (run: FileRun) => void): FileRun | undefined {
  const [, tenantFolder = "", , last = ""] = file.split("/");
  const [tenant, name] = [tenantFolder, last.slice(0, -".json".length)].map(nameIn);
  if (tenant === undefined || name === undefined) return undefined;
  const head = headIn(readWhole(folder.at(file))?.toString("utf8") ?? "", tenant, name);
  const place = places.run(tenant, name);
  const run = new FileRun(head, folder, tell);
  const files = {
    journalBytes: folder.size(`${place}.journal.jsonl`),
    chunkBytes: folder.size(`${place}.chunks.jsonl`),
    snapshots: snapshotsOf(folder, tenantFolder, place),
    ...{ pruned: 0, kept: [] },
  };
  const nothing = { set: [], gone: [] };
  run.restore({ whole: true, head, files, inbox: nothing, activities: nothing, keys: nothing });
  const seqs = run.entries.scan().map(({ seq }) => seq);
  const told = { ...head, seq: seqs.at(-1) ?? 0, snapshotSeq: files.snapshots.at(-1) ?? 0 };
  run.restore({
    ...{ whole: true, head: told, inbox: nothing, activities: nothing, keys: nothing },
    files: { ...files, pruned: (seqs[0] ?? 1) - 1 },
  });
  return run;
}

function snapshotsOf(folder: Folder, tenantFolder: string, place: string): number[] {
  const runs = places.runs(tenantFolder);
  return folder
    .list(runs)
    .flatMap((name) => {
      const [, own, seq] = /^([^.]+)\.snapshot-(\d+)\.json$/.exec(name) ?? [];
      return `${runs}/${own}` === place ? Number(seq) : [];
    })
    .sort((one, other) => one - other);
}

/** A head with what the text still says; it stands first in the file. */
function headIn(text: string, tenant: string, run: string): RunHead {
  const status = told(text, "status", '"[a-z]+"') as RunStatus;
  return {
    ...{ tenant, run, subject: (told(text, "subject", string) as string | undefined) ?? run },
    machine: (told(text, "machine", string) as string | undefined) ?? "",
    version: (told(text, "version", "\\d+") as number | undefined) ?? 0,
    hash: (told(text, "hash", string) as string | undefined) ?? "",
    // Where nobody knows whether it waits for a person, it does.
    status: statuses.includes(status) ? status : "parked",
    createdAt: (told(text, "createdAt", "\\d+(?:\\.\\d+)?") as number | undefined) ?? 0,
    ...{ updatedAt: 0, seq: 0, digest: "", snapshotSeq: 0, attributes: {} },
  };
}

const string = '"(?:[^"\\\\]|\\\\.)*"';

/** The value of a field, where it first stands in the text. */
function told(text: string, field: string, value: string): unknown {
  const found = new RegExp(`"${field}": (${value})`).exec(text)?.[1];
  try {
    return found === undefined ? undefined : JSON.parse(found);
  } catch {
    return undefined;
  }
}
