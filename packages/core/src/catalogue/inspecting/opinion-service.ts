import { toOneLine, verdicts, type Opinion } from '@skillstead/protocol'
import * as v from 'valibot'
import { createHttpClient } from '../../http/http-client.ts'
import type { OutgoingOptions } from '../../http/outgoing.ts'
import { parseServiceUrl } from '../../kernel/service-url.ts'
import type { OpinionQuestion } from '../context/ports.ts'

/** The answer of a service about a version. */
export type OpinionAnswer = Pick<Opinion, 'verdict' | 'reasons'>

/** A model or a sandbox that judges versions which the scan leaves in doubt. */
export interface OpinionSource {
  /** The name of the source, shown with the answer. */
  readonly name: string
  /** Rejects if there is no answer. When the registry closes, it aborts the signal. */
  ask(question: OpinionQuestion, signal: AbortSignal): Promise<OpinionAnswer>
}

/** A service over HTTP: `POST`, JSON in both directions. */
export interface OpinionService {
  readonly url: string
  /** The bearer token of requests. Default: none. */
  readonly key?: string
}

const opinionConnectionsMax = 4
/** Time limit of a request, longer than the time limit of a publish: a late answer serves later publishes. */
const opinionRequestMs = 60_000
const opinionBytesMax = 64 * 1024
/** Maximum bytes of texts in a question; `omitted` names the files without a text. */
const textBytesMax = 512 * 1024
const reasonsMax = 10
const reasonCharactersMax = 300

const OpinionResponse = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ verdict: v.picklist(verdicts), reasons: v.optional(v.array(v.string()), []) }),
)

/**
 * A service as a source of opinions. Redirects are not followed. Throws a TypeError unless the URL is an http or https
 * URL without credentials.
 */
export function createOpinionService({ url, key }: OpinionService, { ca, proxy }: OutgoingOptions = {}) {
  const target = parseServiceUrl(url, 'the second opinion')
  const client = createHttpClient({ connectionsMax: opinionConnectionsMax, ca, proxy })
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) }
  const source: OpinionSource = {
    name: target.host,
    async ask(question, signal) {
      const request = { method: 'POST' as const, headers, body: JSON.stringify(toOpinionRequest(question)) }
      const limits = { timeoutMs: opinionRequestMs, bytesMax: opinionBytesMax, signal }
      const { status, bytes } = await client.send(target, request, limits)
      if (status !== 200) throw new Error(`The service for second opinions responded with the status ${status}.`)
      return readOpinion(bytes)
    },
  }
  return { source, close: () => client.close() }
}

function toOpinionRequest({ digest, fullName, security, files }: OpinionQuestion) {
  const { verdict, score, risk, findings } = security
  let left = textBytesMax
  const texts: { path: string; text: string }[] = []
  const omitted: string[] = []
  for (const { path, bytes } of files) {
    const text = bytes.length > left ? undefined : decodeQuestionText(bytes)
    if (text === undefined) omitted.push(path)
    else texts.push({ path, text })
    left -= text === undefined ? 0 : bytes.length
  }
  return { digest, name: fullName, security: { verdict, score, risk, findings }, files: texts, omitted }
}

function decodeQuestionText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Parses an answer and turns its reasons into short lines without control characters. */
function readOpinion(bytes: Uint8Array): OpinionAnswer {
  const parsed = v.safeParse(OpinionResponse, Buffer.from(bytes).toString())
  if (!parsed.success) throw new Error('The service for second opinions responded with something other than a verdict.')
  const { verdict, reasons } = parsed.output
  const shown = reasons
    .slice(0, reasonsMax)
    .map((reason) => toOneLine(reason.slice(0, reasonCharactersMax).toWellFormed()))
  return { verdict, reasons: shown.filter((reason) => reason.trim() !== '') }
}
