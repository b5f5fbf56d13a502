/** Every bound of the system, with its reason. A bound is tested at the limit and one past it. */
export const limits = {
  /** Microsteps of one step. Real charts need a handful; a thousand means the chart is going round in circles. */
  microstepsMax: 1_000,
  /** How much of a runaway loop its error shows: enough to see a cycle, short enough to read. */
  loopShownMax: 12,
  /** Deferred events of one run. They live in its state, so an endless backlog would make every step slow. */
  deferredMax: 1_000,
  /** Nesting of any JSON value. Deeper values overflow the stack of ordinary recursive code. */
  jsonDepthMax: 200,
  /** States of one machine. Far above any chart a person could read; keeps hostile definitions finite. */
  statesMax: 20_000,
  /** Nesting of states. Paths, diagrams and recursion stay sane below it. */
  stateDepthMax: 64,
  /** Characters of a state's path. It is part of every stored configuration, and of all paths below it. */
  statePathLengthMax: 1_024,
  /** Values of one definition, counted where they stand. Keeps aliases that multiply finite; ten times a large machine. */
  definitionValuesMax: 500_000,
  /** Nesting of a definition: states at their deepest, with actions in them, and JSON in those. */
  definitionDepthMax: 400,
  /** Characters of a key in a definition. Keys are names; a longer one is data in the wrong place. */
  keyLengthMax: 1_024,
  /** Targets of one transition. Each pair of them is checked, and each lies in a region of its own. */
  targetsMax: 100,
  /** Conditions one guard comes to when the names in it are followed. They are all evaluated within a step. */
  conditionsMax: 1_000,
  /** Histories that one default may lead through before it counts as leading nowhere. */
  historiesMax: 1_000,
  /** Problems of one definition that are listed. Nobody reads on, and a hostile definition has millions. */
  problemsMax: 1_000,
  /** Names that a message lists: a few to choose from, not a page. */
  namesShownMax: 12,
  /** Characters that a message shows of a value: enough to recognise it. */
  valueShownMax: 100,
  /** Names compared to find the nearest ones for one definition: tens of milliseconds in all. */
  comparedNamesMax: 50_000,
  /** Characters of a name that others are compared with; nobody misspells a longer one by a letter. */
  comparedLengthMax: 64,
  /** Regions that a map over a list may have. Each is a state; more concurrency belongs to child machines. */
  mapConcurrencyMax: 100,
  /** Characters of a delay written as text. */
  durationLengthMax: 64,
  /** Configurations and plans a compiled machine remembers before it starts its cache afresh. */
  cachedMax: 10_000,
  /** Characters of a definition as JSON. A machine of all the states there can be is smaller. */
  definitionLengthMax: 4 * 1024 * 1024,
  /** Characters of a definition as YAML, which takes ten times as long to read; larger ones can be written as JSON. */
  yamlLengthMax: 256 * 1024,
  /** Characters of one expression. What is longer than a page is a program, and belongs in an activity. */
  expressionLengthMax: 8_192,
  /** Nesting of an expression's parts: a chain of a hundred conditions fits, the stack is never in danger. */
  expressionDepthMax: 256,
  /** Steps of one evaluation, a comparison or sixteen characters each: some milliseconds of work. */
  expressionStepsMax: 100_000,
  /** The same for all expressions of one step of a machine, which may go through many. */
  expressionStepsPerStepMax: 400_000,
  /** Parts of a value that an expression gives, written out: what a step can look at without being held up. */
  expressionResultMax: 500_000,
  /** Characters of a regular expression: nobody can read a longer one. */
  patternLengthMax: 512,
  /** The size of a regular expression with its repetitions written out: matching a character may cost as much. */
  patternSizeMax: 256,
  /** Regular expressions of one definition or schema: to compile one takes up to some milliseconds. */
  patternsMax: 200,
  /** Parts of one JSON Schema: an API's whole vocabulary fits. */
  schemaNodesMax: 10_000,
  /** Nesting of a JSON Schema, counted in keywords that hold other schemas. */
  schemaDepthMax: 64,
  /** Checks one value may need to be found valid: a schema that calls itself in several ways needs exponentially many. */
  schemaChecksMax: 200_000,
  /** Characters of one such problem: names in it may be as long as the definition. */
  problemLengthMax: 1_000,
  /** Turns a simulation may need to come to rest without time passing; runs that keep sending to each other never do. */
  turnsMax: 100_000,
  /** Turns of the event loop in which a test under the harness may be busy before time passes; none that ends needs as many. */
  restTurnsMax: 5_000,
  /** Bytes of one stored value before compression. SQLite and PostgreSQL take more; people should not. */
  valueBytesMax: 64 * 1024 * 1024,
  /** Bytes of an event that is sent from SQL: most servers have to sum them one by one. */
  sentBytesMax: 65_536,
  /** From here on compression saves more than it costs: setting it up takes longer than writing a few kilobytes. */
  compressedBytesMin: 8_192,
  /** Characters from which on a text is kept as content of its own: a row for it costs more than repeating less. */
  contentLengthMin: 4_096,
  /** A snapshot is not worth writing before there is this much to read without it. */
  snapshotAfterBytesMin: 16_384,
  /** What a byte of an entry counts against one of a snapshot: more would read runs faster, and write and keep more. */
  entryWeight: 4,
  /** A snapshot is kept for good, to travel from, once there are this many bytes of entries since the last one kept, */
  keptAfterBytesMin: 65_536,
  /** and this many times its own: so those kept cost an eighth of what is recorded, and any state is near one of them. */
  keptWeight: 8,
  /** Levels that stored records add around users' values. */
  recordDepthMax: 16,
  /** How long a write waits for another process's, the event loop with it; theirs take milliseconds unless they hang. */
  busyMsMax: 5_000,
  /** How long a PostgreSQL server may take to let us in before it counts as unreachable. */
  connectMsMax: 10_000,
  /** After so long without a word a PostgreSQL connection shows that it is alive: less than what lies in between forgets it after. */
  keepAliveMs: 10_000,
  /** How long one of several PostgreSQL servers may take to say whether it is the primary; others wait for it meanwhile. */
  standingMsMax: 2_000,
  /** How long a PostgreSQL server may be silent while somebody waits for it before all of them are asked. Few statements take as long. */
  silenceMsMax: 3_000,
  /** How often a statement is tried that PostgreSQL undoes in favour of another; locks are taken in order, so once is rare. */
  undoneAttemptsMax: 5,
  /** What is left of SQLite's write-ahead log after a burst; the rest goes back to the disk. */
  logBytesMax: 64 * 1024 * 1024,
  /** Bytes that SQLite's write-ahead log has before it is begun anew: 1,000 pages and their headers, and what a commit adds. */
  logRoomBytes: 4_325_376,
  /** Commits before the log is given that many: with fewer to come, writing them would cost more than it saves. */
  logRoomAfterCommits: 16,
  /** Bytes of the file store's log before it is emptied: what opening reads after a crash, against a sync of every file. */
  intentBytesMax: 4 * 1024 * 1024,
  /** Bytes of runs' files that a call of the file store brings up to date: a few small files, or a part of the price of a large one. */
  runFileBytesPerCall: 16 * 1024,
  /** Runs whose row a store remembers, twice over; runs beyond it cost one more read per commit. */
  knownRunsMax: 1_024,
  /** Runs in memory, twice over; those that nobody has asked of lately go first, and cost one read when they come back. */
  liveRunsMax: 10_000,
  /** Steps of one run that go into one commit: enough to batch, few enough to be fair to the others. */
  stepsPerTurnMax: 64,
  /** Runs that take their steps in one commit: beyond this a group gains nothing and only makes the others wait. */
  runsPerRoundMax: 2_048,
  /** Bytes after which a commit takes nothing more in: with one more value, and its copies, it is far from the gigabyte of PostgreSQL. */
  commitBytesMax: 16 * 1024 * 1024,
  /** Attempts of activities under way at a time in one process, unless it is told otherwise: each may hold a connection. */
  slots: 1_000,
  /** Runs that are counted as due for whoever scales workers: with so many it is clear what to do, and counting costs. */
  dueCountedMax: 1_000,
  /** Starts of one rate. Each is remembered with its time, since only that makes a window exact. */
  rateLimitMax: 100_000,
  /** Outages a store remembers for timers that do not run while nobody is there. */
  outagesMax: 1_000,
  /** Missed times a schedule makes up for: a clock that was set years ahead must not start runs without end. */
  catchUpMax: 1_000,
  /** From when on a time of a schedule counts as missed. Alarms are late by seconds, and a restart takes some more. */
  missedAfterMs: 60_000,
  /** Events of one inbox that are read into memory at a time. A flood of them must not fill it. */
  inboxLoadedMax: 1_000,
  /** Bytes of events that one write puts into inboxes, and a kilobyte for each: beyond that a group gains nothing, and holds the runs. */
  sentTogetherBytesMax: 2 * 1024 * 1024,
  /** Runs or events that one question of a fleet's member is about: beyond that it gains nothing, and others wait for it. */
  askedTogetherMax: 1_000,
  /** Table changes that are delivered in one turn: enough to batch, few enough to be done before the turn is over. */
  changesPerTurnMax: 500,
  /** Bytes from which on a run has a copy in Redis: a smaller one is read from PostgreSQL as fast as Redis is asked. */
  copiedBytesMin: 65_536,
  /** Bytes of entries that are added to a copy at a time: what is left to read is less, and most commits cost nothing. */
  addedBytesMin: 16_384,
  /** Bytes up to which it has: a larger one would hold up everybody else's questions. */
  copiedBytesMax: 16 * 1024 * 1024,
  /** How long Redis may take to answer: several times what it takes, and little beside what a user waits for. */
  redisMs: 50,
  /** Failures in a row after which Redis is left alone: one may be chance. */
  redisFailuresMax: 3,
  /** How long it is left alone before it is tried again. */
  redisRestMs: 1_000,
  /** Questions that wait for Redis at a time; more only wait in vain. */
  redisWaitingMax: 1_000,
  /** How often a connection that only listens is asked whether it is alive. */
  redisPingMs: 2_000,
  /** How long a connection to Redis may be silent before it is made anew. */
  redisSilentMsMax: 5_000,
  /** The longest pause between attempts to reach Redis. */
  redisReconnectMsMax: 1_000,
  /** Runs that one signal tells of: some tens of kilobytes at most. */
  signalledRunsMax: 100,
  /** Signals that go out at a time; whoever would need more says that anything may have changed. */
  signalsMax: 20,
  /** Leases held on a board, and agents that wait there for one. Each step looks at all of them, and may answer all. */
  boardWaitersMax: 500,
  /** Writes that wait for a review on a board: people review them, and they live in its state. */
  boardReviewsMax: 500,
  /** Proposals of a board that are open, and as many whose outcome it remembers; older ones are in its journal. */
  boardProposalsMax: 100,
  /** Voters of one proposal: each is looked for among the others. */
  votersMax: 1_000,
  /** Options of one proposal: every pair of them is compared for every ranking. */
  optionsMax: 50,
  /** How often an update of a board is tried unless it is told otherwise: with so many others something else is wrong. */
  boardAttempts: 20,
  /** Updates of a shared text that are kept one by one before they become one: reading it applies as many at most. */
  textUpdatesMax: 64,
  /** Tasks of one plan. Each step looks at all of them; more belong into plans of their own. */
  planTasksMax: 1_000,
  /** Observations of one preference that are kept to tell why; the sums hold the others. */
  evidenceRowsMax: 20,
  /** Situations in which one preference is told apart. Beyond them the one longest without news is dropped. */
  evidenceBucketsMax: 100,
  /** Characters of one fact that is remembered. More is a document, and belongs where documents are. */
  factLengthMax: 2_000,
  /** Facts of one memory. They are read as a whole when it comes into use, which takes a tenth of a second by then. */
  factsMax: 10_000,
  /** Sources of one fact that are kept: whoever said it after so many others adds nothing to it. */
  factSourcesMax: 20,
  /** Characters of all of them: with a vector for each they still are one value that a store keeps. */
  memoryLengthMax: 5_000_000,
  /** Facts that a store finds for a question before the memory looks through its own: with so many the words say little. */
  foundFactsMax: 500,
  /** Words of a question that a store is asked for. A longer one is a document, and is looked for in the memory itself. */
  questionWordsMax: 100,
  /** Facts that a model of embeddings is given at a time: providers take about a hundred. */
  embeddedAtATimeMax: 64,
  /** Dimensions of a vector: those of the largest models. */
  vectorLengthMax: 4_096,
  /** Facts told lately that a new one is compared with, so that what a memory says does not come back as news. */
  recalledMax: 100,
  /** Facts of one subject that a new one is compared with for near duplicates: some milliseconds of work. */
  comparedFactsMax: 100,
  /** Bytes of one request: a definition as JSON fits, quoted once more. */
  requestBytesMax: 10 * 1024 * 1024,
  /** Nesting of what is sent to a server: a context at its deepest, and what is around it. */
  requestDepthMax: 250,
  /** Rows of one page: more are fetched by the next one, and nobody looks at them at once. */
  pageMax: 500,
  /** Characters of a cursor: a run's name and a time, encoded. */
  cursorLengthMax: 4_096,
  /** Events of one request: enough to batch, and each turn of a run takes no more. */
  sentEventsMax: 50,
  /** Runs of one bulk action: some seconds of work, so that a caller hears what became of them. */
  bulkRunsMax: 1_000,
  /** Runs that a filter without an index looks at for one page. */
  scannedRunsMax: 5_000,
  /** Events that a parked run is let take by one call. */
  advanceMax: 10_000,
  /** Breakpoints of one run: each step looks at all of them. */
  breakpointsMax: 100,
  /** How long a request may wait for a reply: proxies give up on longer ones. */
  askMsMax: 60_000,
  /** How long a request waits for what becomes of an event, unless it says otherwise. */
  handledMs: 10_000,
  /** Characters of a path in a context. */
  pathLengthMax: 1_024,
  /** Characters of what is said to an agent in one message: some hundred pages. */
  saidLengthMax: 1_000_000,
  /** Characters of the id of a decision: the path of a state, and a checkpoint. */
  decisionLengthMax: 1_100,
  /** Characters of what is said about a decision. */
  noteLengthMax: 10_000,
  /** Bytes of a request's headers: keys, cookies and ids, many times over. */
  headerBytesMax: 16 * 1024,
  /** How long a request may take to arrive: the largest one over a slow line. */
  requestMsMax: 60_000,
  /** Connections of one server, streams among them. */
  connectionsMax: 20_000,
  /** Streams of one server: each takes some kilobytes. */
  streamsMax: 10_000,
  /** Streams of one principal: a page has two, and people have many pages. */
  streamsPerPrincipalMax: 1_000,
  /** Bytes that wait for a client of a stream; with twice as many it is let go, and comes back where it was. */
  streamBytesWaitingMax: 1024 * 1024,
  /** How often a stream says something, so that nobody takes it for dead. */
  streamBeatMs: 15_000,
  /** How long clients of a server that stops wait before they come back. */
  streamRetryMs: 1_000,
  /** Steps of all runs that a server keeps for those who lost their stream. */
  stepsKeptMax: 10_000,
  /** Runs with steps of other members that wait to be read for the feed; with more, whoever follows reads its lists anew. */
  feedWaitingMax: 1_000,
  /** Runs of a tenant of which the feed knows what it has told; of one that it forgot a step may be told twice. */
  feedKnownMax: 10_000,
  /** How long the steps of other members are still gathered for a tenant whose last follower has gone: it may come back. */
  feedLingerMs: 30_000,
  /** Requests a second that one principal may make, unless a server is told otherwise. */
  requestsPerSecond: 1_000,
  /** Requests without a good key that are refused as such for one address, a second: a client with an old key, and no more. */
  refusalsPerSecond: 10,
  /** The same at once, after a rest: a page that asks for much, or an office behind one address. */
  refusalsBurstMax: 100,
  /** Principals whose rate is watched at a time, and as many addresses. */
  ratedHoldersMax: 10_000,
  /** How long a store may take to answer before its server counts as not ready: half of what probes usually wait. */
  readyMsMax: 1_000,
  /** How long it is known whether a store answers: probes come every few seconds, from several places. */
  readyKnownMs: 1_000,
  /** How long what is under way may take when a server stops. */
  drainMs: 10_000,
  /** How long a server that was found by its file may take to accept a connection: it is on the same machine. */
  devConnectMsMax: 1_000,
  /** Requests that come while dev mode goes over to new machines wait so long for them: a module with all it imports is loaded before. */
  reloadMsMax: 10_000,
  /** How long requests under way may take then, before they are cut off; whoever saves a file waits for that. */
  reloadDrainMs: 1_000,
  /** Tenants that are counted apart. */
  talliedTenantsMax: 1_000,
  /** Kinds of failures of one tenant that are counted; the one longest without news goes first. */
  fingerprintsMax: 200,
  /** Keys of one tenant. Those of all are one document, and none may keep the others from having some. */
  apiKeysMax: 100,
  /** Children and activities of a run that are looked at to tell of it. */
  childrenShownMax: 100,
  /** Entries that are looked at to find when a decision began to wait. */
  decisionLookedMax: 500,
  /** Characters of a context that is shown with a decision. */
  contextShownMax: 20_000,
  /** Characters of a run's id, a tenant, a subject, a key or a principal: they are indexed, and read by people. */
  nameLengthMax: 512,
  /** How often a turn may be handed from agent to agent. Those that go on passing it to each other will not answer it. */
  handOversMax: 8,
} as const;
