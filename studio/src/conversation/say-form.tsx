/** Saying something to the agent. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../data/client.ts";
import type { RunDetail } from "../data/contract.ts";
import { lookAgainAt } from "../data/query-client.ts";
import { Failure } from "../design/failure.tsx";
import { Icon } from "../design/icon.tsx";

export function SayForm({
  detail: { run, status },
  phase,
}: {
  readonly detail: RunDetail;
  readonly phase: string;
}) {
  const [text, setText] = useState("");
  const say = useMutation({
    mutationFn: (said: string) => client.runs.say({ run, text: said }),
    onSuccess: () => {
      setText("");
      void lookAgainAt(run);
    },
  });
  if (status !== "active") return null;
  const isBusy = !["idle", "done", "error"].includes(phase);
  const submit = () => text.trim() !== "" && !say.isPending && say.mutate(text.trim());
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Failure error={say.error} />
      <textarea
        className="field"
        rows={2}
        aria-label="Say something"
        placeholder={isBusy ? "It is busy; what you say waits for its turn…" : "Say something…"}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          submit();
        }}
      />
      <button
        type="submit"
        className="button"
        data-look="main"
        disabled={text.trim() === "" || say.isPending}
      >
        <Icon name="send" /> Say
      </button>
    </form>
  );
}
