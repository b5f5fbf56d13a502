/** What the bench needs of LangGraph's saver for PostgreSQL, from the packages installed in this folder. */
export { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
