/** What the bench needs of LangGraph, from the packages installed in this folder. */
export { HumanMessage } from "@langchain/core/messages";
export { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
export { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
