/**
 * JSON as a tree that opens where one looks. What is long shows its first part. A path can be chosen, and paths that
 * changed are marked.
 */
import { useState } from "react";
import { Icon } from "./icon.tsx";
import "./json-tree.css";

type Path = readonly (string | number)[];

export interface JsonTreeProps {
  readonly value: unknown;
  /** As `$.a[0]`, those that changed. */
  readonly changed?: ReadonlySet<string>;
  readonly onChoose?: (path: string) => void;
  readonly chosen?: string | undefined;
  /** How deep it is open at first. */
  readonly open?: number;
}

const shownAtFirst = 60;

/** As the server reads it: `$.items[0].price`, and `$["a b"]` for other names. */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number"
        ? `${text}[${part}]`
        : /^[A-Za-z_]\w*$/.test(part)
          ? `${text}.${part}`
          : `${text}[${JSON.stringify(part)}]`,
    "$",
  );
}

export function JsonTree({ value, ...rest }: JsonTreeProps) {
  if (typeof value !== "object" || value === null) return <Leaf value={value} />;
  if (Object.keys(value).length === 0) return <p className="quiet">Empty.</p>;
  return (
    <ul className="json">
      <Fields value={value} path={[]} tree={rest} />
    </ul>
  );
}

type Tree = Omit<JsonTreeProps, "value">;
interface PartProps {
  readonly value: object;
  readonly path: Path;
  readonly tree: Tree;
}

function Fields({ value, path, tree }: PartProps) {
  const [shown, setShown] = useState(shownAtFirst);
  const fields = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : Object.entries(value);
  // The end of a long list is what is new in it.
  const from = Array.isArray(value) ? Math.max(0, fields.length - shown) : 0;
  const some = Array.isArray(value) ? fields.slice(from) : fields.slice(0, shown);
  const left = fields.length - some.length;
  const more =
    left === 0 ? null : (
      <li>
        <button type="button" className="json-more" onClick={() => setShown(shown * 4)}>
          {left} more
        </button>
      </li>
    );
  return (
    <>
      {from > 0 ? more : null}
      {some.map(([name, item]) => (
        <Field key={name} name={name} value={item} path={[...path, name]} tree={tree} />
      ))}
      {from > 0 ? null : more}
    </>
  );
}

interface FieldProps {
  readonly name: string | number;
  readonly value: unknown;
  readonly path: Path;
  readonly tree: Tree;
}

function Field({ name, value, path, tree }: FieldProps) {
  const text = pathText(path);
  const isChanged =
    tree.changed !== undefined &&
    [...tree.changed].some((one) => one === text || one.startsWith(`${text}.`) || one.startsWith(`${text}[`));
  const isBranch = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  const [isOpen, setOpen] = useState<boolean | undefined>(undefined);
  const open = isOpen ?? (path.length <= (tree.open ?? 1) || isChanged);
  return (
    <li data-changed={isChanged} data-chosen={tree.chosen === text}>
      {isBranch ? (
        <button
          type="button"
          className="json-fold"
          aria-expanded={open}
          aria-label={`${open ? "Close" : "Open"} ${name}`}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "down" : "right"} size={11} />
        </button>
      ) : (
        <span className="json-fold" />
      )}
      {tree.onChoose === undefined ? (
        <span className="json-name">{name}</span>
      ) : (
        <button
          type="button"
          className="json-name"
          title={`Who last changed ${text}?`}
          onClick={() => tree.onChoose?.(text)}
        >
          {name}
        </button>
      )}
      {isBranch ? <Summary value={value as object} /> : <Leaf value={value} />}
      {isBranch && open ? (
        <ul>
          <Fields value={value as object} path={path} tree={tree} />
        </ul>
      ) : null}
    </li>
  );
}

const Summary = ({ value }: { readonly value: object }) => (
  <span className="json-summary">
    {Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`}
  </span>
);

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const text = JSON.stringify(value) ?? "undefined";
  const isLong = text.length > 220;
  return (
    <span className="json-leaf" data-kind={value === null ? "null" : typeof value}>
      {isLong && !isWhole ? `${text.slice(0, 200)}…` : text}
      {isLong ? (
        <button type="button" className="json-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "less" : `all ${text.length} letters`}
        </button>
      ) : null}
    </span>
  );
}
