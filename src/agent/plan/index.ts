/** Plans, planners, the tool log and what an agent keeps in mind while it works: re-exports only. */
export { beginTask, completeTask, failTask, skipTask } from "./advance.ts";
export type { OutcomeCheck, Validator } from "./outcome.ts";
export {
  makePlan,
  type Plan,
  type PlanBounds,
  type PlannedTask,
  revisePlan,
  type Task,
  type TaskError,
  type TaskStatus,
} from "./plan.ts";
export {
  definePlanner,
  type GoalRequest,
  type Planner,
  type PlannerOptions,
  type ReplanRequest,
  type Work,
} from "./planner.ts";
export type { PlannerContext, PlannerInput, PlannerMachine, Reason, TaskRequest } from "./planner-machine.ts";
export {
  type Bottleneck,
  blockedTasks,
  bottlenecks,
  type CriticalPath,
  criticalPath,
  type Progress,
  progress,
  ready,
  type TimingOptions,
} from "./progress.ts";
export {
  type CallEnd,
  type CallStatus,
  emptyLog,
  logAttempt,
  logCall,
  logEnd,
  type ObservationOptions,
  renderLog,
  renderObservation,
  type ToolCall,
  type ToolLog,
} from "./tool-log.ts";
export {
  type MemoryView,
  makeWorkingMemory,
  type Note,
  renderMemory,
  setGoal,
  takeNote,
  viewMemory,
  type WorkingMemory,
} from "./working-memory.ts";
