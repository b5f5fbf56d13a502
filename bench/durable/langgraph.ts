/**
 * LangGraph with its SQLite saver, made to sync: it asks for durability "sync", and its connection, which would only sync
 * now and then as it is shipped, is told to sync every commit. A step is a superstep: one node that runs again and again
 * inside one `invoke`, which is the cheapest way it has. Messages are plain objects in a list, or, for chat, its own.
 */
import {
  Annotation,
  Command,
  END,
  type Graph,
  type GraphConfig,
  HumanMessage,
  MessagesAnnotation,
  SqliteSaver,
  START,
  type StateDescription,
  StateGraph,
} from "../peers/langgraph.mjs";
import { type Contestant, type Opened, pad } from "./workload.ts";

interface Counting {
  readonly n: number;
  readonly pad: string;
}

interface Message {
  readonly role: string;
  readonly text: string;
}

/** How a conversation's messages are kept. */
interface Shape<Item> {
  readonly state: StateDescription;
  readonly make: (text: string) => Item;
  readonly read: (item: Item) => string;
}

const plain: Shape<Message> = {
  state: Annotation.Root({
    messages: Annotation<Message[]>({ reducer: (old, more) => old.concat(more), default: () => [] }),
  }),
  make: (text) => ({ role: "user", text }),
  read: ({ text }) => text,
};

const chat: Shape<HumanMessage> = {
  state: MessagesAnnotation,
  make: (text) => new HumanMessage(text),
  read: ({ content }) => content,
};

export const langgraph: Contestant = { open: async (path) => openWith(path, plain) };
export const langgraphChat: Contestant = { open: async (path) => openWith(path, chat) };

function openWith<Item>(path: string, shape: Shape<Item>): Opened {
  const saver = durableSaver(path);
  const counter = countingGraph(saver);
  const talker = talkingGraph(saver, shape);
  return {
    beginCount: (run) => counter.begin(run, { n: 0, pad }),
    count: (run, steps) => counter.take(run, steps, (_, { n }) => ({ n: n + 1 })),
    readCount: async (run) => (await counter.graph.getState(configOf(run))).values.n,
    beginTalk: (run) => talker.begin(run, { messages: [] }),
    talk: (run, texts, turn) =>
      talker.take(run, texts.length, (index) => {
        turn(index);
        return { messages: [shape.make(texts[index] as string)] };
      }),
    readTalk: async (run) => (await talker.graph.getState(configOf(run))).values.messages.map(shape.read),
    hydrate: (run) => counter.graph.getState(configOf(run)),
    close: async () => saver.db.close(),
  };
}

/** A saver that is set up, whose connection syncs every commit. */
function durableSaver(path: string): SqliteSaver {
  const saver = SqliteSaver.fromConnString(path);
  (saver as unknown as { setup(): void }).setup();
  saver.db.pragma("synchronous = FULL");
  const found = ["journal_mode", "synchronous"].map((name) => saver.db.pragma(name, { simple: true }));
  if (found.join() !== "wal,2") throw new Error(`LangGraph's connection is not durable: ${found.join()}`);
  return saver;
}

const countingGraph = (saver: SqliteSaver) =>
  looping<Counting>(saver, Annotation.Root({ n: Annotation<number>(), pad: Annotation<string>() }));

const talkingGraph = <Item>(saver: SqliteSaver, { state }: Shape<Item>) =>
  looping<{ messages: Item[] }>(saver, state);

function configOf(run: string): GraphConfig {
  return { configurable: { thread_id: run }, durability: "sync", recursionLimit: 1_000_000 };
}

/** A graph of one node that runs as often as it is asked to. */
function looping<State>(saver: SqliteSaver, state: StateDescription) {
  type Work = {
    readonly steps: number;
    taken: number;
    make: (index: number, state: State) => Partial<State>;
  };
  const works = new Map<string, Work>();
  const workOf = ({ configurable }: GraphConfig) => works.get(configurable.thread_id) as Work;
  const graph: Graph<State> = new StateGraph<State>(state)
    .addNode("step", (now, config) => {
      const work = workOf(config);
      return work.make(work.taken++, now);
    })
    .addEdge(START, "step")
    .addConditionalEdges(
      "step",
      (_, config) => (workOf(config).taken < workOf(config).steps ? "step" : END),
      ["step", END],
    )
    .compile({ checkpointer: saver });
  const begun = new Set<string>();
  return {
    graph,
    /** Stores the first state and stops before the first step, so that it is not timed. */
    async begin(run: string, first: Partial<State>): Promise<void> {
      begun.add(run);
      await graph.invoke(first, { ...configOf(run), interruptBefore: ["step"] });
    },
    /** Goes on from where `begin` stopped; later, from where the last step led. */
    async take(run: string, steps: number, make: Work["make"]): Promise<void> {
      works.set(run, { steps, taken: 0, make });
      await graph.invoke(begun.delete(run) ? null : new Command({ goto: "step" }), configOf(run));
    },
  };
}
