/** Sending: the events that the active states listen to, each with a form of its schema. */
import { useState } from "react";
import { DataForm } from "../../design/data-form.tsx";
import { Failure } from "../../design/failure.tsx";
import { Icon } from "../../design/icon.tsx";
import { useSend } from "../actions.ts";
import type { TabProps } from "./tab.ts";

export function EventsTab({ detail }: TabProps) {
  const [type, setType] = useState("");
  const [data, setData] = useState<unknown>({});
  const send = useSend(detail.run);
  const chosen = type === "" ? (detail.nextEvents[0]?.type ?? "") : type;
  const schema = detail.nextEvents.find((event) => event.type === chosen)?.schema;
  if (detail.status !== "active" && detail.status !== "parked")
    return <p className="quiet">It has ended, and takes no more events.</p>;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (data === undefined) return;
    const isEmpty = data === null || (typeof data === "object" && Object.keys(data).length === 0);
    send.mutate({ type: chosen, ...(isEmpty ? {} : { data }) });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label className="labelled">
        Event
        <input
          className="field code"
          list="next-events"
          value={chosen}
          onChange={({ target }) => setType(target.value)}
        />
        <datalist id="next-events">
          {detail.nextEvents.map((event) => (
            <option key={event.type} value={event.type} />
          ))}
        </datalist>
      </label>
      <p className="row">
        {detail.nextEvents.map((event) => (
          <button
            key={event.type}
            type="button"
            className="button"
            data-size="small"
            aria-pressed={event.type === chosen}
            onClick={() => setType(event.type)}
          >
            {event.type}
          </button>
        ))}
      </p>
      <DataForm key={chosen} label="Data" value={data} schema={schema} onChange={setData} />
      <button
        type="submit"
        className="button"
        data-look="main"
        disabled={chosen === "" || data === undefined || send.isPending}
      >
        <Icon name="send" /> Send
      </button>
      <Failure error={send.error ?? send.data?.error} />
      {send.data === undefined ? null : (
        <p role="status" className="small">
          {send.data.outcome}, with step {send.data.seq}
        </p>
      )}
    </form>
  );
}
