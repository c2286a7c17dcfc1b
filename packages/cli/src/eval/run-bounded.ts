import { createContext, Script } from 'node:vm'
import { readErrorCode } from '@skillstead/protocol'

/** The maximum time for a pattern or a schema of a case, in milliseconds. */
const workMs = 1000

const context = createContext({ work: undefined })
const script = new Script('work()')

/** The work took longer than a second. */
export class SlowError extends Error {
  override readonly name = 'SlowError'
}

/**
 * Runs synchronous work for at most one second, because patterns of cases may backtrack without end. A watchdog of V8
 * stops the work, also within a regular expression. Throws {@link SlowError}.
 */
export function runBounded<T>(work: () => T): T {
  let result: T
  context['work'] = () => {
    result = work()
  }
  try {
    script.runInContext(context, { timeout: workMs })
    return result!
  } catch (error) {
    if (readErrorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new SlowError(`The pattern or schema took longer than ${workMs / 1000} s to check.`)
    throw error
  }
}
