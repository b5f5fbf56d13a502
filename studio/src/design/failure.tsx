/** An error in its own words, where something was tried. */
import "./failure.css";

export function Failure({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const { code, message, name } = error as {
    readonly code?: string;
    readonly message?: string;
    readonly name?: string;
  };
  return (
    <p className="failure" role="alert">
      <b>{code ?? name ?? "Error"}</b> {message ?? String(error)}
    </p>
  );
}
