/** Who asks is not known: a key says it, for as long as the tab is open. */
import { useState } from "react";
import { signIn } from "../data/client.ts";
import { Icon } from "../design/icon.tsx";

export function SignIn() {
  const [key, setKey] = useState("");
  return (
    <form
      className="page sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        signIn(key.trim());
      }}
    >
      <h1>Who is there?</h1>
      <p className="quiet">
        This server asks for a key. <code>holdfast keys create</code> makes one. Of a server in dev mode, open
        the address that it printed.
      </p>
      <label className="labelled">
        Key
        <input
          className="field code"
          type="password"
          autoComplete="off"
          placeholder="hf_…"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
      </label>
      <p>
        <button type="submit" className="button" data-look="main" disabled={key.trim() === ""}>
          <Icon name="right" /> Come in
        </button>
      </p>
    </form>
  );
}
