/**
 * The result of work; undefined if it throws. With `Expected`, only for errors of that class: others are thrown.
 *
 * @example const certificate = attempt(() => new X509Certificate(pem))
 */
export function attempt<T>(work: () => T, Expected?: abstract new (...args: never[]) => Error): T | undefined {
  try {
    return work()
  } catch (error) {
    if (Expected && !(error instanceof Expected)) throw error
    return undefined
  }
}
