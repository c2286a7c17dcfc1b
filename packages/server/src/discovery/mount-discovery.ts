import type { H3 } from 'h3'
import {
  type ArtifactPlace,
  type DiscoveryScope,
  findArtifact,
  type FoundArtifact,
  readDiscoveryIndex,
  SkillMoved,
} from '@skillstead/core/internal'
import { RegistryError, type Content } from '@skillstead/protocol'
import { toLimitKey } from '../addresses.ts'
import type { Call } from '../call.ts'
import { toContentHeaders } from '../content.ts'
import { toClientName } from '../engine.ts'
import { limitKeyOf, spendBytes, spendFile, spendOne, toHandler, type Admission, type NodeParts } from '../gate.ts'
import type { NodeOptions } from '../options.ts'
import { isKnownToCaller, reply, type Header } from '../replies.ts'
import { findSkills } from './find-skills.ts'
import { folder, renameScope, scopePaths, toRootPath } from './scope-paths.ts'
import { readPageFreshness, throughUpstreams, toPageRead } from './through-upstreams.ts'

type Params = Readonly<Record<string, string>>
type Work = (call: Call, params: Params) => Promise<Response>

/**
 * Mounts the addresses that existing installers use: a skill index at every scope, the files that it lists, and the
 * search of `skills find`.
 */
export function mountDiscovery(app: H3, node: NodeParts, options: Pick<NodeOptions, 'discoveryPack'>): void {
  const mount = (pattern: string, endpoint: string, work: Work, admission: Admission = 'page') => {
    // A share link is a credential itself, also on a node that requires a key.
    const personal = endpoint === sharedEndpoint
    const answer = (call: Call) => moving(call, pattern, (params) => guarding(node, call, () => work(call, params)))
    app.all(pattern, toHandler(node, { endpoint, admission, methods: ['GET', 'HEAD'], personal, work: answer }))
  }
  const { discoveryPack } = options
  const paths = discoveryPack === undefined ? scopePaths : [toRootPath(discoveryPack), ...scopePaths]
  for (const path of paths) {
    mount(`${path.pattern}${folder}/index.json`, path.endpoint, (call, params) =>
      replyIndex(node, call, path.read(params)),
    )
    mount(`${path.pattern}${folder}${path.artifact}`, path.endpoint, (call, params) =>
      replyArtifact(node, call, { scope: path.read(params), owner: params.holder, file: params.file ?? '' }),
    )
  }
  mount('/api/search', 'findSkills', (call) => findSkills(node, call), 'api')
}

const sharedEndpoint = 'discoverShared'

async function replyIndex(node: NodeParts, call: Call, scope: DiscoveryScope): Promise<Response> {
  const read = toPageRead(scope)
  const index = await throughUpstreams(node, call, read, () => readDiscoveryIndex(node.context, scope, call.caller))
  return reply(call, {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify(index)),
    cacheControl: toCacheControl(call),
    headers: [...ownHeaders(scope), ...(await readPageFreshness(node, read))],
  })
}

/** Count a download, unless the caller already has the file or only checks for updates. */
async function replyArtifact(node: NodeParts, call: Call, place: ArtifactPlace): Promise<Response> {
  await spendFile(node, call)
  const read = toPageRead(place.scope, place.file)
  const artifact = await throughUpstreams(node, call, read, () => findArtifact(node.context, place, call.caller))
  const { etag } = artifact
  const cacheControl = toCacheControl(call)
  const own = [...ownHeaders(place.scope), ...(await readPageFreshness(node, read))]
  if (isKnownToCaller(call, etag)) return reply(call, { status: 200, body: null, etag, cacheControl, headers: own })
  if (call.method !== 'HEAD') await spendBytes(node, call, artifact.bytes)
  const content = await readArtifact(node, call, artifact)
  const { headers, ...rest } = toContentHeaders(content)
  return reply(call, { status: 200, body: content.body, cacheControl, ...rest, headers: [...headers, ...own] })
}

/**
 * While the bytes are built, their memory counts like that of a request body; afterwards the connection limits apply.
 */
async function readArtifact(node: NodeParts, call: Call, artifact: FoundArtifact): Promise<Content> {
  const held = node.bodies.begin(limitKeyOf(node, call))
  try {
    held.hold(artifact.bytes)
    const counts = call.method !== 'HEAD' && call.header('x-skills-update-check') !== '1'
    const address = toLimitKey(node.addresses.clientOf(call.request))
    return await artifact.read({ counts, client: toClientName(call), address })
  } finally {
    held.end()
  }
}

/**
 * Caches must revalidate each time. The bytes at an address never change, but without revalidation a takedown, or an
 * owner who makes the skill private, would have no effect on a caching proxy.
 */
function toCacheControl(call: Call): string {
  return call.personal ? 'private, no-store' : 'no-cache'
}

/** The address of a shared index is a secret: keep it from referrers and search engines. */
function ownHeaders({ of }: DiscoveryScope): Header[] {
  if (of !== 'share') return []
  return [
    ['referrer-policy', 'no-referrer'],
    ['x-robots-tag', 'noindex'],
  ]
}

/** A guessed share link is charged like a wrong key. */
async function guarding(node: NodeParts, call: Call, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const isGuess = call.endpoint === sharedEndpoint && error instanceof RegistryError && error.status === 404
    if (isGuess) await spendOne(node, call)
    throw error
  }
}

/** Responds with the decoded parameters of the address. For a transferred skill it redirects to the new owner. */
async function moving(call: Call, pattern: string, work: (params: Params) => Promise<Response>): Promise<Response> {
  const params = Object.fromEntries(Object.entries(call.params ?? {}).map(([name, value]) => [name, decode(value)]))
  try {
    return await work(params)
  } catch (error) {
    if (!(error instanceof SkillMoved)) throw error
    const location = renameScope(pattern, params, error.fullName)
    return reply(call, {
      status: 308,
      body: null,
      cacheControl: toCacheControl(call),
      headers: [['location', location]],
    })
  }
}

/** Refuses NUL characters, which PostgreSQL cannot compare. */
function decode(segment: string): string {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('\0')) return text
  } catch (cause) {
    throw new RegistryError('invalid_request', 'The address of the request is malformed.', { cause })
  }
  throw new RegistryError('invalid_request', 'The address of the request must not contain NUL characters.')
}
