import type { CodePart, HighlightAnswer, HighlightOrder } from './highlight-worker.ts'
// oxlint-disable-next-line import/default -- the bundler makes this module
import workerUrl from './highlight-worker.ts?worker&url'

/** Maximum number of characters of a text that is highlighted; a longer text stays plain. */
const charactersMax = 200_000
/**
 * Maximum time for highlighting. A slower text was made to be slow: its worker is ended, and the text stays plain. The
 * first text of a language takes half a second on a laptop, and several on a phone: its expressions are compiled.
 */
const answerMs = 10_000

/** See https://w3c.github.io/trusted-types/dist/spec/. Missing in some browsers, and in TypeScript's types. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown }
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
/** Accepts any URL, because the worker is a file of the app. The content security policy allows the name `worker`. */
const policy = trustedTypes?.createPolicy('worker', { createScriptURL: (url) => url })
let worker: Worker | undefined
/** Whether loading failed once: the texts of this page then stay plain. */
let isUnavailable = false
/** The answer to the latest order. The next order waits for it, so that each has the whole time limit. */
let last: Promise<unknown> = Promise.resolve()

/**
 * The lines of code as parts with kinds; null if the code stays plain, because its language is unknown or cannot be
 * loaded, or the code is too large or takes too long.
 */
export function highlight(order: HighlightOrder): Promise<CodePart[][] | null> {
  if (order.code.length > charactersMax || !order.language) return Promise.resolve(null)
  const answer = last.then(() => ask(order))
  last = answer
  return answer
}

function ask(order: HighlightOrder): Promise<CodePart[][] | null> {
  if (isUnavailable) return Promise.resolve(null)
  worker ??= new Worker((policy?.createScriptURL(workerUrl) ?? workerUrl) as string, { type: 'module' })
  const asked = worker
  return new Promise((resolve) => {
    const ending = new AbortController()
    const { signal } = ending
    const end = (lines: CodePart[][] | null) => {
      ending.abort()
      resolve(lines)
    }
    const giveUp = () => {
      asked.terminate()
      worker = undefined
      end(null)
    }
    const giveUpForAll = () => {
      isUnavailable = true
      giveUp()
    }
    const listen = ({ data }: MessageEvent<HighlightAnswer>) => {
      // The time begins after loading, which may take long on a slow network.
      if (data === 'loaded') setTimeout(() => signal.aborted || giveUp(), answerMs)
      else if (data === 'failed') giveUpForAll()
      else end(data)
    }
    asked.addEventListener('message', listen, { signal })
    asked.addEventListener('error', giveUpForAll, { signal })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name
    asked.postMessage(order)
  })
}
