/** The entry `holdfast/supabase`: row-level security for the PostgreSQL store, on Supabase and on any other server. */
export { type SecureOptions, secure } from "./secure.ts";
