import { guest, localApi } from '@skillstead/core'
import { toScoreVerdict, verdictWords } from '@skillstead/protocol'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { nothingHere, reply } from '../replies/replies.ts'
import { escapeHtml } from './html.ts'

/** Background colours by verdict. White text has a contrast of at least 4.5 on each. */
const colours = { safe: '#2b7a3f', caution: '#a15c00', dangerous: '#b3261e' } as const
const label = 'skillstead'
const characterWidth = 6.6
const padding = 6

/**
 * Answers `GET /badge/OWNER/NAME.svg`: a picture with the latest version of a public skill and its verdict, for pages
 * of other sites. Every caller gets the picture that a guest gets. Throws `not_found`.
 */
export async function replyBadge(node: NodeParts, call: Call): Promise<Response> {
  const [, owner, name] = /^\/badge\/([a-z0-9-]+)\/([a-z0-9-]+)\.svg$/.exec(call.url?.pathname ?? '') ?? []
  if (owner === undefined) throw nothingHere()
  const fullName = `${owner}/${name}`
  const { metadata } = await localApi(node.registry, guest).loadSkill({ name: fullName, level: 'metadata' })
  const { version, securityScore } = metadata
  return reply(call, {
    status: 200,
    contentType: 'image/svg+xml',
    body: Buffer.from(toBadge(fullName, version, securityScore)),
    cacheControl: 'public, max-age=300',
    headers: [['content-security-policy', "default-src 'none'"]],
  })
}

function toBadge(fullName: string, version: string, score: number | null): string {
  const verdict = score === null ? undefined : toScoreVerdict(score)
  const text = `${version} · ${verdict ? verdictWords[verdict] : 'not scanned'}`
  const [left, right] = [label, text].map((words) => Math.ceil(words.length * characterWidth) + 2 * padding)
  const title = escapeHtml(`${fullName} ${text}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left! + right!}" height="20" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<rect width="${left}" height="20" fill="#444"/>`,
    `<rect x="${left}" width="${right}" height="20" fill="${verdict ? colours[verdict] : '#666'}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `${toSvgText(label, 0, left!)}${toSvgText(text, left!, right!)}</g></svg>`,
  ].join('')
}

function toSvgText(words: string, left: number, width: number): string {
  const place = `x="${left + padding}" y="14" textLength="${width - 2 * padding}" lengthAdjust="spacingAndGlyphs"`
  return `<text ${place}>${escapeHtml(words)}</text>`
}
