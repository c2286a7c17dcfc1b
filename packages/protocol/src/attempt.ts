/**
 * The result of `work`; undefined if `work` throws. With `Expected`, undefined only for errors of that class: other
 * errors are thrown again.
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
