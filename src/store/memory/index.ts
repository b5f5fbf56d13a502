/** The entry `holdfast/memory`. */
export { memory } from "./store.ts";
