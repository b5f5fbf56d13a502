/** What a machine says that XState has no word for, by name. `docs/guide/formats.md` lists them. */
export const exportTopics = {
  errors: "may throw: an error is an event here and ends the actor in XState",
  blocks: "has several blocks; in XState an error in one stops them all",
  matching: "reads event keys as prefixes, which XState does not",
  order: "takes handlers in the order of writing; XState takes the most specific key first",
  unhandled: "says what becomes of events that nobody takes; XState drops them",
  defer: "keeps events for later; XState drops them",
  contract: "is a contract or an invariant; XState has none",
  writes: "says what becomes of contradictory writes; in XState the last one stands",
  history: "does something when there is nothing to remember; XState only goes somewhere",
  initial: "begins in several states, or deeper than its children; XState begins in one child",
  model: "is text of a data model that XState does not have",
  resume: "says what outages do to a timer; XState's timers do not survive them",
  address: "sends to another run, or out of the system; XState's actors know their family only",
  map: "is part of a map over a list; XState has none",
  reply: "answers whoever asked; XState has no replies",
  compensate: "undoes activities; XState has no compensation",
  finalize: "runs on every event of an invocation; XState has no such place",
  autoforward: "passes every event on; XState sends only what is sent",
  activity:
    "has retries, timeouts, limits to its flow, or an end that is not known; an XState actor just runs",
  unbound: "is an activity without code; give it in `activities`",
  child: "names a child machine that this machine does not bring",
  "own-events": "listens to events that XState does not raise",
  policy: "is for whoever runs the machine",
  time: "may read the time of the step; XState has none, so it is 0 unless `now` is given",
} as const;

export type ExportTopic = keyof typeof exportTopics;
