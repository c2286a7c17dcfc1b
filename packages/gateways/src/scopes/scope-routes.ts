import { countListed, type DiscoveryScope, SkillMoved } from '@skillstead/core/internal'
import { RegistryError, type Content } from '@skillstead/protocol'
import {
  toCacheControl,
  toListAnswer,
  type Admission,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Header,
  type Params,
} from '../gateway.ts'
import { encodeList, type ListKey, type ListParts } from '../encoded-lists.ts'
import type { FoundArtifact } from './find-artifact.ts'
import type { RecentLists } from './recent-lists.ts'
import { renameScope, type ScopePath } from './scope-paths.ts'
import { readPageFreshness, throughUpstreams, type PageRead } from './through-upstreams.ts'

/** A route below the path of a scope, such as the route of an index. */
interface ScopeRoute {
  readonly path: ScopePath
  /** The part of the pattern after the path of the scope. */
  readonly below: string
  readonly admission: Admission
  answer(call: GatewayCall, params: Params): Promise<Answer>
}

const sharedEndpoint = 'discoverShared'

/** A route below a scope. It redirects requests for transferred skills, and limits the guessing of share links. */
export function toScopeRoute(host: GatewayHost, { path, below, admission, answer }: ScopeRoute): GatewayRoute {
  const { endpoint } = path
  const pattern = `${path.pattern}${below}`
  return {
    pattern,
    endpoint,
    methods: ['GET', 'HEAD'],
    admission,
    // A share link is a credential itself, even on a node that requires a key.
    personal: endpoint === sharedEndpoint,
    answer: (call, params) =>
      followTransfer(host, call, pattern, params, () =>
        chargeGuesses(host, call, endpoint, () => answer(call, params)),
      ),
  }
}

/** The parts of a request below a scope. `lists` decides whether reading a file counts as a download. Default: yes. */
interface Place {
  readonly scope: DiscoveryScope
  readonly read: PageRead
  readonly lists?: RecentLists
}

/**
 * Answers with a list of the skills of a scope. `kind` and the scope are the key of the list. A list that has to be
 * built costs one file for each skill that it may list; the request itself already paid the first file.
 */
export async function answerList(
  host: GatewayHost,
  call: GatewayCall,
  { scope, read, lists }: Place,
  { kind, make }: { readonly kind: ListKey; make(): Promise<ListParts> },
): Promise<Answer> {
  const charge = async () => {
    const skills = await countListed(host.context, scope, call.caller)
    if (skills > 1) await host.spendFile(call, skills - 1)
  }
  // The list of a share link is not cached, because the link expires without a change of the catalogue.
  const readList = () =>
    scope.of === 'share' ? encodeList(make) : host.lists.read(call, [...kind, scope], make, charge)
  const list = await throughUpstreams(host, call, read, readList)
  const headers = [...toScopeHeaders(scope), ...(await readPageFreshness(host, read))]
  const answer = await toListAnswer(host, call, list, headers)
  if (list.hasSeveralSkills && call.method === 'GET') await lists?.add(call, scope)
  return answer
}

/**
 * Answers with a file of a scope, and charges its bytes to the download allowance of the caller's address. Counts a
 * download, unless the caller already has the file, only checks for updates, or just read a list of several skills.
 */
export async function answerFile(
  host: GatewayHost,
  call: GatewayCall,
  { scope, read, lists }: Place,
  find: () => Promise<FoundArtifact>,
): Promise<Answer> {
  const artifact = await throughUpstreams(host, call, read, find)
  const { etag } = artifact
  const cacheControl = toCacheControl(call)
  const own = [...toScopeHeaders(scope), ...(await readPageFreshness(host, read))]
  if (host.isKnown(call, etag)) return { status: 200, body: null, etag, cacheControl, headers: own }
  if (call.method !== 'HEAD') await host.spendBytes(call, artifact.bytes)
  const isListed = (await lists?.has(call, scope)) ?? false
  const content = await readScopeArtifact(host, call, artifact, isListed)
  const { headers = [], ...rest } = host.toContentAnswer(content)
  return { status: 200, cacheControl, ...rest, headers: [...headers, ...own] }
}

/**
 * Reads the bytes of an artifact. During the read they count towards the memory limit of request bodies; while they are
 * sent, only the limits of connections apply.
 */
function readScopeArtifact(
  host: GatewayHost,
  call: GatewayCall,
  artifact: FoundArtifact,
  isListed: boolean,
): Promise<Content> {
  return host.holding(call, artifact.bytes, async () => {
    const counts = !isListed && call.method !== 'HEAD' && call.header('x-skills-update-check') !== '1'
    return artifact.read({ counts, ...host.countedBy(call) })
  })
}

/** The response headers of a scope. A share link's URL is secret, so it is kept from referrers and search engines. */
function toScopeHeaders({ of }: DiscoveryScope): Header[] {
  if (of !== 'share') return []
  return [
    ['referrer-policy', 'no-referrer'],
    ['x-robots-tag', 'noindex'],
  ]
}

/** Charges a request for a share link that does not exist, like a request with a wrong key. */
async function chargeGuesses(
  host: GatewayHost,
  call: GatewayCall,
  endpoint: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    const isGuess = endpoint === sharedEndpoint && error instanceof RegistryError && error.status === 404
    if (isGuess) await host.spendRequest(call)
    throw error
  }
}

/** Redirects requests for a transferred skill to the new owner. */
async function followTransfer(
  { publicPath }: GatewayHost,
  call: GatewayCall,
  pattern: string,
  params: Params,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SkillMoved)) throw error
    const location = publicPath + renameScope(pattern, params, error.fullName)
    return { status: 308, body: null, cacheControl: toCacheControl(call), headers: [['location', location]] }
  }
}
