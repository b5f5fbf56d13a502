/** The entry `holdfast/agent`: what agents remember and share. Re-exports only. */
export * from "./board/index.ts";
