/** What the list is narrowed down to; all of it is in the link. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { useMachines } from "../data/machines.ts";
import { Icon } from "../design/icon.tsx";
import { StatusShape } from "../design/status.tsx";
import { type ListSearch, statuses } from "../search.ts";
import { useKeys } from "../shell/keys.ts";

function useFilter() {
  const search = useSearch({ from: "/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const set = <Name extends keyof ListSearch>(name: Name, value: ListSearch[Name] | undefined) =>
    void navigate({
      search: ({ [name]: _, ...rest }) =>
        (value === undefined ? rest : { ...rest, [name]: value }) as ListSearch,
      replace: true,
    });
  return { search, set };
}

export function Filters() {
  const { search, set } = useFilter();
  const machines = useMachines().data ?? [];
  const first = useRef<HTMLInputElement>(null);
  useKeys([{ key: "/", does: "Filter by subject", run: () => first.current?.focus() }]);
  return (
    <search className="filters">
      <Chips />
      <div className="filters-fields">
        <select
          className="field"
          aria-label="Machine"
          value={search.machine ?? ""}
          onChange={({ target }) => set("machine", target.value === "" ? undefined : target.value)}
        >
          <option value="">Any machine</option>
          {machines.map(({ machine }) => (
            <option key={machine}>{machine}</option>
          ))}
        </select>
        <select
          className="field"
          aria-label="Started"
          value={search.since ?? ""}
          onChange={({ target }) => set("since", (target.value || undefined) as ListSearch["since"])}
        >
          <option value="">At any time</option>
          <option value="15m">In the last 15 minutes</option>
          <option value="1h">In the last hour</option>
          <option value="1d">In the last day</option>
          <option value="7d">In the last week</option>
        </select>
        <TextFilter
          ref={first}
          name="subject"
          label="Subject"
          value={search.subject}
          onSet={(value) => set("subject", value)}
        />
        <TextFilter
          name="attribute"
          label="Attribute: name=value"
          value={search.attribute}
          onSet={(value) => set("attribute", value)}
        />
      </div>
    </search>
  );
}

function Chips() {
  const { search, set } = useFilter();
  return (
    <div className="filters-chips">
      {statuses.map((status) => (
        <button
          key={status}
          type="button"
          className="chip"
          aria-pressed={search.status === status}
          onClick={() => set("status", search.status === status ? undefined : status)}
        >
          <StatusShape standing={status} /> {status}
        </button>
      ))}
      <button
        type="button"
        className="chip"
        aria-pressed={search.waiting === "person"}
        onClick={() => set("waiting", search.waiting === undefined ? "person" : undefined)}
      >
        <StatusShape standing="person" /> waits for a person
      </button>
      <button
        type="button"
        className="chip"
        aria-pressed={search.stuck === true}
        onClick={() => set("stuck", search.stuck === undefined ? true : undefined)}
      >
        <Icon name="clock" size={14} /> stuck
      </button>
    </div>
  );
}

interface TextFilterProps {
  readonly ref?: React.Ref<HTMLInputElement>;
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly onSet: (value: string | undefined) => void;
}

/** Taken over when it is left or Enter is pressed: not every letter is a filter. */
function TextFilter({ ref, name, label, value, onSet }: TextFilterProps) {
  const take = (text: string) => onSet(text.trim() === "" ? undefined : text.trim());
  return (
    <input
      ref={ref}
      key={value ?? ""}
      name={name}
      className="field"
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ""}
      onBlur={({ target }) => target.value !== (value ?? "") && take(target.value)}
      onKeyDown={(event) => event.key === "Enter" && take(event.currentTarget.value)}
    />
  );
}
