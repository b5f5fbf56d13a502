/** The entry `holdfast/file`. */
export { type FileStoreOptions, fileStore } from "./store.ts";
