const endings: (() => Promise<unknown>)[] = []

/**
 * Runs `end` when the current test file has ended, the last one first: also for helpers, whose module is loaded once a
 * worker, so that an `afterAll` of theirs would belong to the first file alone.
 */
export function onFileFinished(end: () => Promise<unknown>): void {
  endings.push(end)
}

/** Called by the setup file. */
export async function finishFile(): Promise<void> {
  const errors: unknown[] = []
  for (const end of endings.splice(0).toReversed()) await end().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw new AggregateError(errors, 'What the file opened could not be closed.')
}
