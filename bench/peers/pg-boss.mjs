/** What the bench needs of pg-boss, from the packages installed in this folder. */
export { PgBoss } from "pg-boss";
