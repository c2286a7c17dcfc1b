/** The simulated state of the clock and the disk of a machine. */
export interface MachineState {
  /** The offset of the clock from the true time. */
  readonly clockMs: number
  /** The delay of each commit. */
  readonly commitMs: number
  /** Whether the disk is full, so that the database cannot grow. */
  readonly isFull: boolean
  /** The number of next orders whose thread ends while it inspects new versions. */
  readonly threadKills: number
}

/** The response of a process to a change of its state. */
export interface MachineChanged {
  /** Threads ended since the last response. */
  readonly killedThreads: number
}

/** The environment variable with the initial state of a process, as JSON. */
export const stateVariable = 'CHAOS_STATE'
