/** Installs on their way into the counts. */
export interface Telemetry {
  /** Records an install; resolves after the commit. */
  record(skillId: string): Promise<void>
  /** Counts what is recorded. */
  flush(): Promise<void>
  stop(): Promise<void>
}
