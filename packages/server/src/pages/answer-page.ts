import { guest, type Caller } from '@skillstead/core'
import type { Header } from '@skillstead/gateways'
import { EncodedJson, localCall, openShare, SkillMoved } from '@skillstead/core/internal'
import { type Content, type SkillDetails, attempt } from '@skillstead/protocol'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { readPageSession } from '../admission/sessions.ts'
import { reply, toPublicError } from '../replies/replies.ts'
import { type PageRoute, type PageText, skill, type Subject } from './page-texts.ts'

/** Responds with a page of the app, in which the app then shows the content, or that the URL does not exist. */
export type ReplyPage = (call: Call, status: number, page?: PageWithText) => Promise<Response>

export interface PageWithText {
  /** The text of the page for previews and search engines. Default: none, so that they leave out the page. */
  toText?(): PageText | undefined
  /** JSON for the app, which then shows the page without another request. */
  toData?(): Promise<string>
  /** The object that the text is made from: the page is written once per object. Default: written each time. */
  readonly source?: object | undefined
  /** The shared skill, if the caller opens a share link; caches must not store such a page. */
  readonly shared?: string
  /** Why there is no page to show, with headers for the response. */
  readonly problem?: { readonly reason: string; readonly headers: readonly Header[] }
}

/**
 * Answers with a page of the app: 404 if its subject does not exist for the caller. The page contains only texts that
 * guests may read, so that previews show nothing private.
 */
export async function answerPage(
  node: NodeParts,
  call: Call,
  route: PageRoute,
  replyPage: ReplyPage,
): Promise<Response> {
  const query = call.url?.searchParams ?? new URLSearchParams()
  const subject = route.subjectOf?.(query)
  const params = decodeParams(call)
  if (route.sections?.includes(Object.values(params).at(-1) ?? '') === false) return replyPage(call, 404)
  if (route.textOf) {
    const own = route.textOf(params)
    return replyPage(call, own ? 200 : 404, own && { toText: () => own, source: own })
  }
  const text = subject === undefined ? route.text : subject.plain
  const plain = text && { toText: () => text, source: text }
  if (subject === undefined || (plain !== undefined && node.requireKey))
    return replyPage(call, 200, node.requireKey ? undefined : plain)
  try {
    const read = { node, subject, input: subject.toInput(params, query) }
    // All pages of a private node are the same for guests, who sign in on them.
    if (node.requireKey) return replyPage(call, (await seenByUser(read, call)) === false ? 404 : 200)
    const { status, body } = await readAs(read, guest)
    if (status === 200) {
      const source = body instanceof EncodedJson && body.isCached ? body : undefined
      const toText = () => subject.toText?.(toValue(body))
      // All tabs of a skill have the same page, so that the data is for each of them.
      const data = subject === skill && { toData: () => readSkillData(read, toValue(body) as SkillDetails) }
      return replyPage(call, 200, { toText, source, ...data })
    }
    // The list cannot be read now: the response is the page without the list, and the app shows the reason.
    if (plain) return replyPage(call, 200, plain)
    const isSeen = status === 404 && (await seenByUser(read, call)) === true
    return replyPage(call, isSeen ? 200 : status)
  } catch (error) {
    if (!(error instanceof SkillMoved)) throw error
    const place = params.tab === undefined ? error.fullName : `${error.fullName}/${encodeURIComponent(params.tab)}`
    return replyRedirect(node, call, 308, `/skills/${place}${call.url?.search ?? ''}`)
  }
}

/** Redirects a browser to a page. `Vary: Accept`, because programs may get another response at the same URL. */
export function replyRedirect(node: NodeParts, call: Call, status: 302 | 308, path: string): Response {
  const headers: Header[] = [
    ['location', node.publicPath + path],
    ['vary', 'Accept'],
  ]
  return reply(call, { status, body: null, cacheControl: 'no-cache', headers })
}

interface SubjectRead {
  readonly node: NodeParts
  readonly subject: Subject
  readonly input: Readonly<Record<string, string>>
}

/**
 * Reads the subject of a page by its endpoint, as the caller. Returns the status of the page: 404 also for invalid
 * input, and the status of any other error.
 */
async function readAs({ node, subject, input }: SubjectRead, caller: Caller) {
  try {
    const { body } = await localCall(node.registry, subject.endpoint, input, caller, { requireRoom: node.requireRoom })
    return { status: 200, body }
  } catch (error) {
    if (error instanceof SkillMoved) throw error
    const { status } = toPublicError(error)
    return { status: status === 400 || status === 422 ? 404 : status }
  }
}

function toValue(body: unknown): unknown {
  return body instanceof EncodedJson ? JSON.parse(body.json) : body
}

const skillMdBytesMax = 64 * 1024

/** The data of a skill for its page, as guests may read it: its details, and SKILL.md if it is not large. */
async function readSkillData({ node, input }: SubjectRead, details: SkillDetails): Promise<string> {
  const skillMd = details.files.find(({ path }) => path === 'SKILL.md')
  if (skillMd === undefined || skillMd.size > skillMdBytesMax) return JSON.stringify({ details, ...input })
  const { body } = await localCall(node.registry, 'getSkillMd', input, guest, { counts: false }).catch(
    (error: unknown) => {
      // The page itself shows why SKILL.md cannot be read, for example that a rescan quarantined the version.
      if (toPublicError(error).status >= 500) throw error
      return { body: undefined }
    },
  )
  if (body === undefined) return JSON.stringify({ details, ...input })
  return JSON.stringify({ details, ...input, skillMd: Buffer.from((body as Content).body as Uint8Array).toString() })
}

/** Whether the subject exists for the user who is signed in; undefined for guests. */
async function seenByUser(read: SubjectRead, call: Call): Promise<boolean | undefined> {
  const token = readPageSession(read.node, call)
  if (token === undefined) return undefined
  try {
    return (await readAs(read, await read.node.registry.authenticateSession(token))).status !== 404
  } catch (error) {
    // A user whose session has expired counts as a guest.
    if (toPublicError(error).status === 401) return undefined
    throw error
  }
}

/**
 * Answers with the page of a shared skill for the holder of its link, and with 404 for every invalid link. A guess of a
 * link is limited by the request rate.
 */
export async function answerSharedPage(node: NodeParts, call: Call, replyPage: ReplyPage): Promise<Response> {
  const { token = '' } = decodeParams(call)
  const share = await openShare(node.context, token).catch((error: unknown) => {
    if (toPublicError(error).status === 404) return undefined
    throw error
  })
  if (share === undefined) return replyPage(call, 404)
  const { holder, fullName } = share
  const { status, body } = await readAs({ node, subject: skill, input: { name: fullName } }, holder)
  if (status !== 200) return replyPage(call, status)
  const { install, ...text } = skill.toText!(toValue(body))
  const own = { ...text, links: [], ...(install !== undefined && { install: `t/${token}` }) }
  return replyPage(call, 200, { toText: () => own, shared: fullName })
}

/** The decoded segments of the path; a segment that cannot be decoded stays encoded, and so names nothing. */
function decodeParams(call: Call): Record<string, string> {
  return Object.fromEntries(
    Object.entries(call.params ?? {}).map(([name, value]) => [name, attempt(() => decodeURIComponent(value)) ?? value]),
  )
}
