/** The simulated state of the clock and the disk of a machine. */
export interface MachineState {
  /** The offset of the clock from the true time. */
  readonly clockMs: number
  /** The delay of each commit. */
  readonly commitMs: number
  /** Whether the disk is full, so that the database cannot grow. */
  readonly isFull: boolean
}

/** The environment variable with the initial state of a process, as JSON. */
export const stateVariable = 'CHAOS_STATE'
