/**
 * A value to be written: by fields where its JSON Schema has simple ones, as JSON otherwise or when asked. What cannot be
 * read as JSON is said at once, and is not handed on.
 */
import { useId, useState } from "react";
import "./data-form.css";

type Schema = Readonly<Record<string, unknown>>;

interface DataFormProps {
  readonly label: string;
  readonly value: unknown;
  readonly schema?: Schema | undefined;
  /** The new value; undefined while what is written is not JSON. */
  readonly onChange: (value: unknown) => void;
  readonly rows?: number;
}

interface SimpleField {
  readonly name: string;
  readonly kind: "text" | "number" | "flag" | "choice";
  readonly choices: readonly string[];
  readonly isNeeded: boolean;
  readonly description: string | undefined;
}

/** The fields of a schema, if all of them are simple. */
function fieldsOf(schema: Schema | undefined): readonly SimpleField[] | undefined {
  const properties = schema?.properties as Readonly<Record<string, Schema>> | undefined;
  if (properties === undefined) return undefined;
  const needed = (schema?.required ?? []) as readonly string[];
  const fields = Object.entries(properties).map(([name, { type, enum: choices, description }]) => ({
    name,
    kind: Array.isArray(choices)
      ? ("choice" as const)
      : ({ string: "text", number: "number", integer: "number", boolean: "flag" } as const)[type as "string"],
    choices: (choices ?? []) as readonly string[],
    isNeeded: needed.includes(name),
    description: description as string | undefined,
  }));
  return fields.length > 0 && fields.every(({ kind }) => kind !== undefined) ? fields : undefined;
}

export function DataForm({ label, value, schema, onChange, rows = 8 }: DataFormProps) {
  const fields = fieldsOf(schema);
  const [isRaw, setRaw] = useState(fields === undefined);
  return (
    <fieldset className="data-form">
      <legend>{label}</legend>
      {fields === undefined ? null : (
        <span className="tabs">
          <button type="button" role="switch" aria-checked={isRaw} onClick={() => setRaw(!isRaw)}>
            {isRaw ? "As a form" : "As JSON"}
          </button>
        </span>
      )}
      {isRaw || fields === undefined ? (
        <Raw label={label} value={value} onChange={onChange} rows={rows} />
      ) : (
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={(value as Record<string, unknown> | undefined)?.[field.name]}
            onChange={(one) => onChange({ ...(value as object | undefined), [field.name]: one })}
          />
        ))
      )}
    </fieldset>
  );
}

function Raw({ label, value, onChange, rows }: Omit<DataFormProps, "schema"> & { readonly rows: number }) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const id = useId();
  const write = (written: string) => {
    setText(written);
    try {
      onChange(written.trim() === "" ? null : JSON.parse(written));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
      onChange(undefined);
    }
  };
  return (
    <>
      <textarea
        className="field code"
        rows={rows}
        value={text}
        aria-label={`${label} as JSON`}
        aria-invalid={problem !== undefined}
        aria-describedby={id}
        spellCheck={false}
        onChange={({ target }) => write(target.value)}
      />
      <p id={id} className="data-form-problem">
        {problem}
      </p>
    </>
  );
}

interface FieldInputProps {
  readonly field: SimpleField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function FieldInput({
  field: { name, kind, choices, isNeeded, description },
  value,
  onChange,
}: FieldInputProps) {
  const id = useId();
  const shared = { id, className: "field", required: isNeeded } as const;
  return (
    <div className="labelled" data-kind={kind}>
      <label htmlFor={id}>{name}</label>
      {kind === "flag" ? (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      ) : kind === "choice" ? (
        <select {...shared} value={String(value ?? "")} onChange={({ target }) => onChange(target.value)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : kind === "number" ? (
        <input
          {...shared}
          type="number"
          step="any"
          value={typeof value === "number" ? value : ""}
          onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
        />
      ) : (
        <input {...shared} value={String(value ?? "")} onChange={({ target }) => onChange(target.value)} />
      )}
      {description === undefined ? null : <span className="quiet small">{description}</span>}
    </div>
  );
}
