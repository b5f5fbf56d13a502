/** What the bench needs of DBOS, from the packages installed in this folder. */
export { DBOS } from "@dbos-inc/dbos-sdk";
