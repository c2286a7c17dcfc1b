/** A database did not answer in time. */
export class SilentError extends Error {
  override readonly name = 'SilentError'
}

/** Waits for a database. After `ms`, throws a {@link SilentError} that names `subject`; does not cancel `work`. */
export async function withinMs<T>(subject: string, ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new SilentError(`${subject} did not answer within ${ms} ms.`))
    // If this process was paused, the response may be waiting in the socket; setImmediate lets it be read before the
    // timeout counts.
    timer = setTimeout(() => setImmediate(giveUp), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
