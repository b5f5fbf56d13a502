/**
 * Loaded before a process that is to be killed or recorded, with the name of a bug in its address: from then on production
 * sources are loaded with that bug in them. Whoever judges is another process, and has none.
 */
import { plant } from "../simulation/plant.ts";
import { findBug } from "./bugs.ts";

const bug = findBug(new URL(import.meta.url).searchParams.get("bug") ?? "");
plant([bug, ...(bug.also ?? [])]);
