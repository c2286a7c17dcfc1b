import { readRepositoryVersions, readSkillHistory, SkillMoved } from '@skillstead/core/internal'
import { isRegistryError, RegistryError } from '@skillstead/protocol'
import { throughUpstreams, toPageRead } from '../scopes/through-upstreams.ts'
import {
  toCacheControl,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Params,
} from '../gateway.ts'
import { readProtocolVersion, toAdvertisement } from './advertisement.ts'
import { type CallerTurns, createCallerTurns } from './caller-turns.ts'
import { PackEntries } from './pack-entries.ts'
import { planPack, prependPackets, toBands, writePack } from './pack-stream.ts'
import { createPacksSent, type PacksSent, untilEnded } from './packs-sent.ts'
import { GitError, toErrorPacket } from './pkt-line.ts'
import { createAdvertised, type Advertised } from './advertised.ts'
import type { Repository } from './repository.ts'
import { readUploadBody } from './request-body.ts'
import { createScopeRepositories, type ScopeRepositories } from './scope-repository.ts'
import type { Selection } from './select-commits.ts'
import { toSkillRepository } from './skill-repository.ts'
import { answerUpload, sendsHead } from './upload-pack.ts'
import { type ChargeVersions, createBlobSource, VersionTrees } from './version-trees.ts'

/** The repository that a URL names. */
type Address =
  | { readonly of: 'skill'; readonly owner: string; readonly name: string }
  | { readonly of: 'owner'; readonly owner: string }
  | { readonly of: 'pack'; readonly slug: string }

/** A repository as the caller may read it. */
interface FoundRepository {
  readonly repository: Repository
  /** Counts a clone; absent for repositories of several skills. */
  countDownload?(options: ReturnType<GatewayHost['countedBy']>): void
}

interface Parts {
  readonly host: GatewayHost
  readonly trees: VersionTrees
  readonly scopes: ScopeRepositories
  readonly entries: PackEntries
  /** The queue, per caller, of the work before a response begins. */
  readonly turns: CallerTurns
  /** The repositories whose references callers have read recently. That request was charged for the whole clone. */
  readonly advertised: Advertised
  /** The packs that are being made or sent. */
  readonly sent: PacksSent
}

/**
 * Read-only git over smart HTTP (gitprotocol-http): `/git/OWNER/SKILL.git`, `/git/OWNER.git` and
 * `/git/packs/SLUG.git`.
 */
export function git(host: GatewayHost): GatewayRoute[] {
  const { context } = host
  const trees = new VersionTrees(context)
  const parts: Parts = {
    host,
    trees,
    scopes: createScopeRepositories(context, trees),
    entries: new PackEntries(createBlobSource(context)),
    turns: createCallerTurns(turnsMax),
    advertised: createAdvertised(host),
    sent: createPacksSent(),
  }
  const shared = { admission: 'keyed', scheme: 'basic', reads: toGitEndpoint, toFailure: toGitFailure } as const
  return ['/git/:repository', '/git/:owner/:repository'].flatMap((base): GatewayRoute[] => [
    {
      ...shared,
      pattern: `${base}/info/refs`,
      methods: ['GET'],
      endpoint: 'gitRefs',
      answer: (call, params) => answerRefs(parts, call, params),
    },
    {
      ...shared,
      admission: 'continued',
      pattern: `${base}/git-upload-pack`,
      methods: ['POST'],
      readMethods: ['POST'],
      endpoint: 'gitUploadPack',
      answer: (call, params) => answerPack(parts, call, params),
    },
    {
      ...shared,
      pattern: `${base}/git-receive-pack`,
      methods: ['POST'],
      endpoint: 'gitReceivePack',
      answer: refuseGitPush,
    },
    ...['HEAD', 'objects/**:path'].map((file): GatewayRoute => {
      return { ...shared, pattern: `${base}/${file}`, methods: ['GET'], endpoint: 'gitFile', answer: refuseDumb }
    }),
  ])
}

/** Answers `GET info/refs`: the capabilities and, in versions 0 and 1 of the protocol, the references. */
async function answerRefs(parts: Parts, call: GatewayCall, params: Params): Promise<Answer> {
  const service = call.url?.searchParams.get('service')
  if (service === 'git-receive-pack') return refuseGitPush()
  if (service !== 'git-upload-pack') return refuseDumb()
  const address = parseRepositoryAddress(params)
  try {
    const { repository } = await findRepository(parts, call, address)
    parts.advertised.add(call, params)
    return {
      status: 200,
      contentType: 'application/x-git-upload-pack-advertisement',
      body: toAdvertisement(repository, readProtocolVersion(call.header('git-protocol'))),
      cacheControl: toCacheControl(call),
      headers: varyByProtocol,
    }
  } catch (error) {
    if (call.request.signal.aborted) return nothing
    if (!(error instanceof SkillMoved)) throw error
    // After this redirect, git sends the next requests of the fetch to the new URL, too.
    const location = `${parts.host.publicPath}/git/${error.fullName}.git/info/refs?service=git-upload-pack`
    return { status: 308, body: null, cacheControl: toCacheControl(call), headers: [['location', location]] }
  }
}

/** The response depends on the requested version of the protocol. */
const varyByProtocol: Answer['headers'] = [['vary', 'Git-Protocol']]

/** Answers `POST git-upload-pack`. */
async function answerPack(parts: Parts, call: GatewayCall, params: Params): Promise<Answer> {
  const { host } = parts
  const { signal } = call.request
  if (!parts.advertised.take(call, params)) await host.spendRequest(call)
  const body = await readUploadBody(host, call)
  try {
    const found = await findRepository(parts, call, parseRepositoryAddress(params))
    const version = readProtocolVersion(call.header('git-protocol'))
    const answerInTurn = () => answerUpload(found.repository, version, body, signal)
    const { head, selection, bandBytesMax } = await inTurn(parts, call, answerInTurn)
    if (!selection) return toPackAnswer(head)
    const end = beginPack(parts, call)
    try {
      const pack = await inTurn(parts, call, () => openPack(parts, call, found, selection))
      const packets =
        bandBytesMax === undefined ? pack : toBands(pack, bandBytesMax, (error) => toGitErrorText(host, call, error))
      return toPackAnswer(untilEnded(prependPackets(head, packets), end))
    } catch (error) {
      end()
      throw error
    }
  } catch (error) {
    if (error instanceof GitError) return toPackAnswer(toErrorPacket(error.message))
    // An error in place of a redirect, which git does not follow in this request of a fetch.
    if (error instanceof SkillMoved) return toPackAnswer(toErrorPacket(`${error.message} Fetch again.`))
    if (signal.aborted) return nothing
    throw error
  }
}

/** The answer to a request whose client is gone. */
const nothing = toPackAnswer(Buffer.alloc(0))

function toPackAnswer(body: NonNullable<Answer['body']>): Answer {
  return { status: 200, contentType: 'application/x-git-upload-pack-result', body, cacheControl: 'no-store' }
}

/** The maximum number of a caller's tasks that run at a time: reading a repository, or planning a pack. */
const turnsMax = 2

function inTurn<Result>({ host, turns }: Parts, call: GatewayCall, work: () => Promise<Result>): Promise<Result> {
  return turns.take(host.limitKeyOf(call), call.request.signal, work)
}

/** Time limit for sending a pack: clients that read a few bytes at a time would keep packs open for hours. */
const sendingMs = 30 * 60_000

/** Counts a pack as being sent until the returned function is called. Closes the connection after the time limit. */
function beginPack({ host, sent }: Parts, call: GatewayCall): () => void {
  const end = sent.begin(host.limitKeyOf(call))
  const timer = setTimeout(() => host.hangUp(call), sendingMs)
  timer.unref()
  return () => {
    clearTimeout(timer)
    end()
  }
}

/**
 * Plans a pack, charges it, and counts a download if it contains the latest version. Returns a stream that reads the
 * files when the client reads the pack.
 */
async function openPack(parts: Parts, call: GatewayCall, found: FoundRepository, selection: Selection) {
  const { host, entries, trees } = parts
  const readContent: VersionTrees['readContent'] = (version) => trees.readContent(version)
  const { signal } = call.request
  await host.spendFile(call)
  const plan = await planPack(selection, { readContent, charge: toCharge(host, call), signal })
  await spendPack(host, call, plan.bytes)
  if (sendsHead(found.repository, selection)) found.countDownload?.(host.countedBy(call))
  return writePack(entries, plan, { readContent, signal })
}

async function spendPack(host: GatewayHost, call: GatewayCall, bytes: number): Promise<void> {
  try {
    await host.spendBytes(call, bytes)
  } catch (error) {
    if (!isRegistryError(error, 'rate_limited')) throw error
    // The advice is needed because waiting does not help if the pack is larger than the allowance.
    const size = `The pack has ${Math.ceil(bytes / 2 ** 20)} MiB. If it is refused again, fetch less at once: --depth 1.`
    const { message, retryAfterSeconds } = error
    throw new RegistryError('rate_limited', `${message} ${size}`, { retryAfterSeconds, cause: error })
  }
}

/**
 * Bytes charged to the download allowance for listing the files of a version, in addition to the bytes that are sent.
 */
const versionBytes = 4096

function toCharge(host: GatewayHost, call: GatewayCall): ChargeVersions {
  return (versions) => host.spendBytes(call, versions * versionBytes)
}

/** The text for a client whose pack fails while being sent; for unknown errors, it does not disclose the cause. */
function toGitErrorText(host: GatewayHost, call: GatewayCall, error: unknown): string {
  if (error instanceof GitError) return error.message
  if (!call.request.signal.aborted) host.failed(call, error)
  return `The node failed to send the pack. It logged the error with the request id ${call.requestId}.`
}

/** Parses the path of a repository, with or without `.git`, both of which other git servers accept. */
function parseRepositoryAddress({ owner, repository = '' }: Params): Address {
  const name = repository.replace(/\.git$/, '')
  if (owner === undefined) return { of: 'owner', owner: name }
  return owner === 'packs' ? { of: 'pack', slug: name } : { of: 'skill', owner, name }
}

function toGitEndpoint(params: Params) {
  const address = parseRepositoryAddress(params)
  return address.of === 'skill' ? { skill: `${address.owner}/${address.name}` } : undefined
}

/**
 * Finds a repository. A guest gets the same error for a repository that does not exist and for one that guests may not
 * read: git then asks for a password.
 */
async function findRepository(parts: Parts, call: GatewayCall, address: Address): Promise<FoundRepository> {
  const { host } = parts
  try {
    // Only the reading itself takes a turn of the caller, not the waiting for upstreams.
    const read = () => inTurn(parts, call, () => findGitRepository(parts, call, address))
    return await throughUpstreams(host, call, toPageRead(address), read)
  } catch (error) {
    if (!isRegistryError(error, 'not_found')) throw error
    if (call.caller.kind === 'guest' && call.caller.sharedSkillId === undefined) {
      throw new RegistryError('unauthorized', 'There is no such public repository. To read a private one, sign in.', {
        cause: error,
      })
    }
    throw new RegistryError('not_found', 'There is no such repository that you may read.', { cause: error })
  }
}

async function findGitRepository(parts: Parts, call: GatewayCall, address: Address): Promise<FoundRepository> {
  const { host, scopes, trees } = parts
  const { context } = host
  const { signal } = call.request
  const request = { charge: toCharge(host, call), signal }
  if (address.of === 'skill') {
    const history = await readSkillHistory(context, `${address.owner}/${address.name}`, call.caller)
    const repository = await toSkillRepository(history, trees, request)
    return { repository, countDownload: history.countDownload }
  }
  const versions = await readRepositoryVersions(context, address, call.caller, signal)
  if (versions.length === 0) throw new RegistryError('not_found', 'This repository has no skills.')
  const name = address.of === 'owner' ? address.owner : address.slug
  return { repository: await scopes.open(name, versions, request) }
}

function refuseGitPush(): never {
  throw new RegistryError('forbidden', 'Repositories are read-only. Publish skills with `skillstead publish`.')
}

function refuseDumb(): never {
  throw new RegistryError(
    'forbidden',
    'The dumb HTTP protocol is not supported. Use git 1.6.6 or later, which speaks the smart protocol.',
  )
}

/** Converts an error to plain text, which git prints as lines that start with `remote:`. */
function toGitFailure({ status, message }: RegistryError): ReturnType<NonNullable<GatewayRoute['toFailure']>> {
  const hint = 'Any user name; the password is an API key or the token of a share link.'
  const text = status === 401 ? `${message}\n${hint}\n` : `${message}\n`
  const headers: Answer['headers'] =
    status === 401 ? [['www-authenticate', 'Basic realm="Skillstead", charset="UTF-8"']] : []
  return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(text), headers }
}
