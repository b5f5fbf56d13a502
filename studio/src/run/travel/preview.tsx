/** What a journey would do to the world. */
import type { TravelPreview } from "../../data/contract.ts";
import { Icon, type IconName } from "../../design/icon.tsx";
import { time } from "../../design/words.ts";

type Work = TravelPreview["begins"][number];
const icons: Readonly<Record<Work["kind"], IconName>> = {
  activity: "activity",
  timer: "clock",
  child: "child",
};

function WorkList({
  title,
  works,
  tone,
}: {
  readonly title: string;
  readonly works: readonly Work[];
  readonly tone: string;
}) {
  if (works.length === 0) return null;
  return (
    <section className="travel-part" data-tone={tone}>
      <h3>{title}</h3>
      <ul>
        {works.map(({ kind, key, name, state, due }) => (
          <li key={key}>
            <Icon name={icons[kind]} size={13} />
            <span>
              {kind} <b>{name}</b>
              {state === undefined ? "" : ` of ${state}`}
              {due === undefined ? "" : `, due ${time(due)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Preview({ preview }: { readonly preview: TravelPreview | undefined }) {
  if (preview === undefined) return <p className="quiet">Looking at what would happen…</p>;
  const { begins, stays, cancels, done, isMore, configuration, refused } = preview;
  return (
    <div className="travel-preview">
      {refused === undefined ? null : <p className="failure">{refused}</p>}
      <p className="leaves">
        It would go on in{" "}
        {configuration.map((leaf) => (
          <span className="leaf" key={leaf}>
            {leaf}
          </span>
        ))}
      </p>
      <WorkList title="Would run again" works={begins} tone="again" />
      <WorkList title="Would be cancelled" works={cancels} tone="cancel" />
      <WorkList title="Is under way and stays so" works={stays} tone="stay" />
      {begins.length === 0 ? <p className="travel-calm">Nothing would run again by itself.</p> : null}
      {done.length === 0 ? null : (
        <section className="travel-part" data-tone="done">
          <h3>Was done since, and stays done in the world</h3>
          <ul>
            {done.slice(0, 12).map(({ seq, activity, key }) => (
              <li key={key}>
                <Icon name="check" size={13} />
                <span>
                  <b>{activity}</b>, step {seq}
                </span>
              </li>
            ))}
            {done.length > 12 || isMore ? <li className="quiet">and more</li> : null}
          </ul>
        </section>
      )}
    </div>
  );
}
