/** Loaded before a process, with the name of a bug in its address: from then on production sources are loaded with it. */
import { plant } from "../simulation/plant.ts";
import { findBug } from "./bugs.ts";

plant(findBug(new URL(import.meta.url).searchParams.get("bug") ?? "").changes);
