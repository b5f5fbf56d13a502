/** Scopes: state of the app, a user, a session, or nothing that lasts. Re-exports only. */
export { type OpenScopes, type OpenScopesOptions, openScopes } from "./open-scopes.ts";
export {
  defineScopes,
  type KeptScope,
  type ScopeName,
  type ScopeSchemas,
  type Scopes,
  type ScopesOptions,
  scopeNames,
} from "./scopes.ts";
