/**
 * A cold process on the file of a conversation: opens it, reads the run and takes one durable step. Prints the
 * milliseconds as JSON, without and with the time it took to import the contestant; starting Node is in neither.
 */
import { contestants } from "./contestants.ts";
import { expectSame, messageOf } from "./workload.ts";

const [name = "", path = "", messagesText = ""] = process.argv.slice(2);
const messages = Number(messagesText);

const begun = performance.now();
const contestant = await contestants[name]!();
const imported = performance.now();
const on = await contestant.open(path);
await on.talk("talk", [messageOf(messages)], () => {});
const done = performance.now();

const texts = await on.readTalk("talk");
expectSame("messages after the resume", texts.length, messages + 1);
expectSame("the newest message", texts.at(-1), messageOf(messages));
await on.close();
console.log(JSON.stringify({ ms: done - imported, withImportMs: done - begun }));
