/** The entry `holdfast/client`: the typed client of a server. It runs in Node and in browsers. */
export type * from "../server/contract.ts";
export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export type { StreamEvent } from "./stream.ts";
