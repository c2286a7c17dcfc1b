/** What the clock and the disk of a machine are like. */
export interface MachineState {
  /** How far the clock is from the true time. */
  readonly clockMs: number
  /** How long each commit waits for its disk. */
  readonly commitMs: number
  /** Whether the database may not grow. */
  readonly isFull: boolean
}

/** The environment variable with the state that a process begins with, as JSON. */
export const stateVariable = 'CHAOS_STATE'
