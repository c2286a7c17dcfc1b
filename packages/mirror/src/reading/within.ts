import type { Clock } from '@skillstead/core'

/** The outcome of work that may go on for longer than whoever asked waits; `late` makes the error that he is told. */
export async function within<T>(
  { clock, ms, late }: { readonly clock: Clock; readonly ms: number; late(): Error },
  work: Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => reject(late()))
    work.then(resolve, reject).finally(cancel)
  })
}
