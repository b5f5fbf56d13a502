/** What went wrong, in the words of the error registry, and what can be done about it. */
import { Empty } from "../design/empty.tsx";
import { SignIn } from "./sign-in.tsx";

export function Problem({ error }: { readonly error: unknown }) {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === "KEY_REFUSED") return <SignIn />;
  return (
    <div role="alert">
      <Empty title={message ?? String(error)} command="holdfast doctor">
        {code === undefined ? "Studio could not show this." : <code>{code}</code>}
      </Empty>
    </div>
  );
}
