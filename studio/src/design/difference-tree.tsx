/** What differs between two JSON values, as a tree of what differs and nothing else. */
import { create, type Delta } from "jsondiffpatch";
import { useMemo } from "react";
import "./difference-tree.css";

const differ = create({ arrays: { detectMove: false } });

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 400 ? `${text.slice(0, 380)}…` : text;
};

export function DifferenceTree({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const delta = useMemo(() => differ.diff(before, after), [before, after]);
  if (delta === undefined) return null;
  return (
    <ul className="difference">
      <Branch delta={delta} />
    </ul>
  );
}

function Branch({ delta }: { readonly delta: Delta }) {
  return Object.entries(delta as Record<string, Delta>)
    .filter(([name]) => name !== "_t")
    .map(([name, inside]) => <Part key={name} name={name} delta={inside} />);
}

/** An added value is `[new]`, a changed one `[old, new]`, a deleted one `[old, 0, 0]`; anything else goes deeper. */
function Part({ name, delta }: { readonly name: string; readonly delta: Delta }) {
  const label = <span className="difference-name">{name.replace(/^_/, "")}</span>;
  if (!Array.isArray(delta))
    return (
      <li>
        {label}
        <ul>
          <Branch delta={delta} />
        </ul>
      </li>
    );
  const list = delta as readonly unknown[];
  const was = list.length === 1 ? undefined : list[0];
  const is = list.length === 1 ? list[0] : list.length === 2 ? list[1] : undefined;
  return (
    <li>
      {label}
      {was === undefined ? null : (
        <del>
          <span className="unseen">was </span>
          {show(was)}
        </del>
      )}
      {is === undefined ? null : (
        <ins>
          <span className="unseen">is now </span>
          {show(is)}
        </ins>
      )}
    </li>
  );
}
