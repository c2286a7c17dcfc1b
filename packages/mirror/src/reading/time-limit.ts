import type { Clock } from '@skillstead/core'

/**
 * Returns the outcome of work, or throws the error that `late` returns if the work takes longer than `ms` milliseconds.
 * The work then continues in the background.
 */
export async function limitTime<T>(
  { clock, ms, late }: { readonly clock: Clock; readonly ms: number; late(): Error },
  work: Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => reject(late()))
    work.then(resolve, reject).finally(cancel)
  })
}
