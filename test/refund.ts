/** A machine as data that several tests load: a refund that is decided, or escalated and then expires. */
export const refund = `
id: refund
version: 1
context: { type: object, additionalProperties: false, required: [limit], properties: { limit: { type: number }, amount: { type: number } } }
start: { limit: 100 }
events:
  decide: { type: object, required: [amount], properties: { amount: { type: number } } }
  approve: { type: object }
initial: reviewing
states:
  reviewing:
    on:
      decide:
        - guard: { cel: "event.data.amount <= context.limit" }
          target: approved
          update: { amount: { cel: "event.data.amount" } }
        - target: escalated
  approved: { type: final }
  escalated:
    on: { approve: approved }
    after: [{ delay: 1 day, target: expired }]
  expired: { type: final }
`;
