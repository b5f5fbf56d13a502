/** What the step asked the world to do; of activities, also what came back, once it has. */
import type { JournalEntry } from "../../data/contract.ts";
import { useEntries } from "../../data/journal.ts";
import { Icon, type IconName } from "../../design/icon.tsx";
import { JsonTree } from "../../design/json-tree.tsx";
import { duration, fullTime } from "../../design/words.ts";
import type { Moment } from "../moment.ts";
import type { TabProps } from "./tab.ts";

type Effect = JournalEntry["effects"][number];

const icons: Readonly<Record<Effect["type"], IconName>> = {
  activity: "activity",
  spawn: "child",
  timer: "clock",
  send: "send",
  emit: "event",
  log: "runs",
  reply: "chat",
  cancel: "cancel",
};

const nameOf = (effect: Effect): string => effect.activity ?? effect.machine ?? effect.id ?? effect.key ?? "";

/** How an activity or a child ended, if it did so in the steps that follow closely. */
function Ended({
  effect,
  entry,
  moment,
}: {
  readonly effect: Effect;
  readonly entry: JournalEntry;
  readonly moment: Moment;
}) {
  const later = useEntries(moment.run, [entry.seq, Math.min(moment.last, entry.seq + 100)], moment.last);
  const end = [...later.values()].find(({ event }) => event.invocation === effect.key);
  if (end === undefined)
    return <p className="quiet small">Not ended by step {Math.min(moment.last, entry.seq + 100)}.</p>;
  return (
    <div className="part">
      <p className="row small">
        <span>
          Ended with step {end.seq} after {duration(end.at - entry.at)}
        </span>
        <button type="button" className="button" data-size="small" onClick={() => moment.goTo(end.seq)}>
          Go there
        </button>
      </p>
      {end.event.data === undefined ? null : <JsonTree value={end.event.data} open={2} />}
    </div>
  );
}

export function EffectsTab({ moment }: TabProps) {
  const { entry } = moment;
  if (entry === undefined) return <p className="quiet">Reading…</p>;
  if (entry.effects.length === 0) return <p className="quiet">This step asked nothing of the world.</p>;
  return entry.effects.map((effect, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: effects of a step never change, and not all have a key.
    <article className="effect" key={index}>
      <p className="effect-head">
        <Icon name={icons[effect.type]} size={14} />
        {effect.type} <code>{nameOf(effect)}</code>
      </p>
      {effect.due === undefined ? null : <p className="small">Due {fullTime(effect.due)}</p>}
      {effect.input === undefined ? null : (
        <div className="part">
          <h3>Input</h3>
          <JsonTree value={effect.input} open={2} />
        </div>
      )}
      {effect.data === undefined ? null : <JsonTree value={effect.data} />}
      {effect.type === "activity" || effect.type === "spawn" ? (
        <Ended effect={effect} entry={entry} moment={moment} />
      ) : null}
    </article>
  ));
}
