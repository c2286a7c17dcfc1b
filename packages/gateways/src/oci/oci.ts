import { isRegistryError, isSkillName, isUsername, RegistryError } from '@skillstead/protocol'
import {
  toCacheControl,
  toJsonAnswer,
  readSkillList,
  toListAnswer,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Header,
  type Params,
} from '../gateway.ts'
import { apiOf } from '../scopes/skill-archives.ts'
import { createOciArtifacts, type Artifacts, type Repository } from './artifacts.ts'
import { OciError, toOciFailure, versionHeader } from './oci-error.ts'
import { listTags, selectTags } from './tags.ts'
import { manifestType, type Blob } from './write-artifact.ts'

interface Parts {
  readonly host: GatewayHost
  readonly artifacts: Artifacts
}

const base = '/v2/:owner/:skill'

/** A read-only registry of artifacts (OCI distribution specification 1.1). Each skill is a repository `OWNER/SKILL`. */
export function oci(host: GatewayHost): GatewayRoute[] {
  const parts: Parts = { host, artifacts: createOciArtifacts(host) }
  return [
    toOciRoute('/v2', 'ociBase', answerBase),
    toOciRoute(`${base}/manifests/:reference`, 'ociManifest', (call, params) => answerManifest(parts, call, params)),
    toOciRoute(`${base}/blobs/:digest`, 'ociBlob', (call, params) => answerBlob(parts, call, params)),
    toOciRoute(`${base}/tags/list`, 'ociTags', (call, params) => answerTags(parts, call, params)),
    toOciRoute('/v2/**:path', 'ociOther', (call, { path }) => (path ? refuseOther() : answerBase(call))),
  ]
}

function toOciRoute(pattern: string, endpoint: string, answer: GatewayRoute['answer']): GatewayRoute {
  return {
    pattern,
    endpoint,
    // Pushes get an error that names the alternative.
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    admission: 'keyed-files',
    scheme: 'basic',
    reads: ({ owner, skill }) => (skill === undefined ? 'nothing' : { skill: `${owner}/${skill}` }),
    answer: (call, params) =>
      call.method === 'GET' || call.method === 'HEAD' ? answer(call, params) : refuseOciPush(),
    toFailure: toOciFailure,
  }
}

function refuseOciPush(): never {
  throw new RegistryError('method_not_allowed', 'Artifacts here are read-only. Publish with `skillstead publish`.')
}

function refuseOther(): never {
  throw new OciError('UNSUPPORTED', 'not_found', 'This registry serves only manifests, blobs and tags of OWNER/SKILL.')
}

/**
 * Answers the base path. By this response most clients decide whether they send their password. Some clients that have
 * no password send an empty one, and count as guests.
 */
function answerBase(call: GatewayCall): Answer {
  if (isGuest(call) && call.header('authorization') === null) {
    throw new RegistryError('unauthorized', `${signIn} Guests may read public skills.`)
  }
  return withVersion(toJsonAnswer(call, {}))
}

const signIn = 'Sign in with any user name; the password is an API key or the token of a share link.'

function isGuest({ caller }: GatewayCall): boolean {
  return caller.kind === 'guest' && caller.sharedSkillId === undefined
}

async function answerManifest({ host, artifacts }: Parts, call: GatewayCall, params: Params): Promise<Answer> {
  const { reference = '' } = params
  const repository = await findOciRepository(host, call, params)
  const { fullName, skill } = repository
  const artifact = reference.includes(':')
    ? await artifacts.findByManifest(call, repository, requireDigest(reference))
    : await artifacts.findByVersion(call, repository, reference === 'latest' ? skill.latestVersion : reference)
  if (!artifact) {
    throw new OciError('MANIFEST_UNKNOWN', 'not_found', `${fullName} has no manifest with this tag or digest.`)
  }
  return toBlobAnswer(call, artifact.manifest, manifestType, await host.freshness({ name: fullName }))
}

async function answerBlob({ host, artifacts }: Parts, call: GatewayCall, params: Params): Promise<Answer> {
  const digest = requireDigest(params['digest'] ?? '')
  const repository = await findOciRepository(host, call, params)
  const artifact = await artifacts.findByBlob(call, repository, digest)
  if (!artifact) throw new OciError('BLOB_UNKNOWN', 'not_found', `${repository.fullName} has no blob with this digest.`)
  const { config, layer, version } = artifact
  if (digest === config.digest) return toBlobAnswer(call, config, 'application/octet-stream')
  const answer = await artifacts.answerLayer(call, repository, version)
  // The response to HEAD has no body, so its size is given explicitly.
  const size: Header[] = call.method === 'HEAD' ? [['content-length', `${layer.size}`]] : []
  return withVersion(answer, [...size, ['docker-content-digest', digest]])
}

async function answerTags({ host }: Parts, call: GatewayCall, params: Params): Promise<Answer> {
  const fullName = `${params['owner']}/${params['skill']}`
  const query = call.url!.searchParams
  const list = await readSkillList(host, call, ['oci', fullName], async () => {
    const { skill } = await findOciRepository(host, call, params)
    return { value: { name: fullName, tags: listTags(skill) } }
  })
  const freshness = await host.freshness({ name: fullName })
  if (!query.has('n') && !query.has('last')) return withVersion(await toListAnswer(host, call, list, freshness))
  const all: { readonly tags: readonly string[] } = JSON.parse(new TextDecoder().decode(list.bytes))
  const { tags, next } = selectTags(all.tags, query)
  const path = `${host.publicPath}/v2/${fullName}/tags/list`
  const link: Header[] = next === undefined ? [] : [['link', `<${path}?${next}>; rel="next"`]]
  return withVersion(toJsonAnswer(call, { name: fullName, tags }, [...link, ...freshness]))
}

/**
 * Finds a skill. A guest gets the same error for a skill that does not exist and for a skill that guests may not read:
 * clients then send their password.
 */
async function findOciRepository(host: GatewayHost, call: GatewayCall, params: Params): Promise<Repository> {
  const { owner = '', skill: name = '' } = params
  const fullName = `${owner}/${name}`
  try {
    if (!isUsername(owner) || !isSkillName(name))
      throw new RegistryError('not_found', 'This is not the name of a skill. Use the form OWNER/SKILL.')
    return { fullName, skill: await apiOf(host, call, { counts: false }).getSkill({ name: fullName }) }
  } catch (error) {
    if (!isRegistryError(error, 'not_found')) throw error
    if (isGuest(call)) {
      throw new RegistryError('unauthorized', `There is no such public skill. ${signIn}`, { cause: error })
    }
    throw new RegistryError('not_found', 'There is no such skill that you may read.', { cause: error })
  }
}

function requireDigest(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text
  throw new OciError('DIGEST_INVALID', 'invalid_request', 'Digests have the form sha256:... with 64 hex digits.')
}

function toBlobAnswer(
  call: GatewayCall,
  { digest, bytes }: Blob,
  contentType: string,
  headers: readonly Header[] = [],
): Answer {
  const answer = { status: 200, contentType, body: bytes, etag: `"${digest}"`, cacheControl: toCacheControl(call) }
  return withVersion({ ...answer, headers }, [['docker-content-digest', digest]])
}

function withVersion(answer: Answer, headers: readonly Header[] = []): Answer {
  return { ...answer, headers: [versionHeader, ...(answer.headers ?? []), ...headers] }
}
