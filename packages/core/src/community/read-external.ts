import { RegistryError } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields, toSlug } from '@skillstead/skill-format'
import { createOutgoing } from '../http/create-outgoing.ts'
import type { OutgoingOptions, OutgoingResponse } from '../http/outgoing.ts'
import { systemClock } from '../kernel/clock.ts'
import type { CommunityContext } from './community-context.ts'
import { type ExternalSource, parseSource } from './external-source.ts'

/** An external SKILL.md with the URL it was read from. */
interface ReadSkill {
  readonly address: string
  readonly text: string
}

const skillBytesMax = 10 * 1024 * 1024
/** Timeout for all candidates together. */
const readMs = 10_000

/**
 * Reads the SKILL.md of a source: the first candidate that has one. Throws `invalid_request` for hosts that are not
 * public, `upstream_failed` if there is no skill at the address, `upstream_timeout`.
 */
export async function readExternalSkill(
  context: Pick<CommunityContext, 'outgoing' | 'clock'>,
  source: ExternalSource,
): Promise<ReadSkill> {
  await context.outgoing.requirePublic(source.candidates[0]!, 'url')
  const until = context.clock.now() + readMs
  let reason = 'There is no SKILL.md at the URL.'
  for (const candidate of source.candidates) {
    const timeoutMs = until - context.clock.now()
    if (timeoutMs <= 0) throw new RegistryError('upstream_timeout', 'The host did not respond in time.')
    const response = await context.outgoing.get(candidate, { bytesMax: skillBytesMax, timeoutMs })
    const read = readResponse(response)
    if ('text' in read && !isOther(source, candidate, read.text)) return { address: response.url, text: read.text }
    if ('reason' in read && response.status !== 404) reason = read.reason
  }
  throw new RegistryError('upstream_failed', reason)
}

function readResponse({ status, contentType, bytes }: OutgoingResponse): { text: string } | { reason: string } {
  if (status !== 200) return { reason: `The host of the URL responded with status ${status}.` }
  if (/^(?:text\/html|application\/xhtml)/i.test(contentType)) return { reason: isPage }
  const text = decode(bytes)
  if (text === undefined) return { reason: 'The content at the URL is not text in UTF-8.' }
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(text.slice(0, 1000)) ? { reason: isPage } : { text }
}

const isPage = 'The URL is that of a web page. Specify the URL of the SKILL.md or its folder.'

/** Decodes the text with its byte order mark, so that digests match the bytes. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A repository's single SKILL.md must not be returned for every name that a caller asks for. */
function isOther({ rootIfNamed, candidates }: ExternalSource, candidate: string, text: string): boolean {
  if (rootIfNamed === undefined || candidate !== candidates.at(-1)) return false
  const { name, nameSlug } = readSkillFields(parseSkillMd(text))
  return (name ?? nameSlug) !== toSlug(rootIfNamed)
}

/**
 * Reads the SKILL.md at an address without a registry, with the same restrictions: public hosts only, unless `outgoing`
 * allows others. Throws `invalid_request`, `upstream_failed`, `upstream_timeout`.
 */
export async function readExternalText(
  url: string,
  options: OutgoingOptions = {},
): Promise<{ address: string; text: string }> {
  const source = parseSource(url)
  const outgoing = createOutgoing(options)
  try {
    return await readExternalSkill({ outgoing, clock: systemClock }, source)
  } finally {
    await outgoing.close()
  }
}
