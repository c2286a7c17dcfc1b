import { authorize } from '@skillstead/core/internal'
import { endpoints, RegistryError } from '@skillstead/protocol'
import type { GatewayCall, GatewayHost } from '../gateway.ts'
import {
  type Asked,
  baseOf,
  type Fields,
  requireText,
  requireUser,
  type RouteTable,
  toJson,
  toSkillName,
  toText,
  toTexts,
} from './route-table.ts'
import { Uploads } from './uploads.ts'

/** Publishing: each file is announced and uploaded, then published together with the others. */
export function createPublishRoutes(host: GatewayHost) {
  const uploads = new Uploads(() => host.context.clock.now())
  return {
    table: {
      '/api/v1/skills/-/upload-url': { POST: (asked) => announce(asked, uploads) },
      '/api/v1/uploads/:ticket': { POST: (asked) => upload(asked, uploads) },
    } satisfies RouteTable,
    publish: (asked: Asked) => publish(asked, uploads),
  }
}

async function announce({ host, call, readFields }: Asked, uploads: Uploads) {
  const owner = requirePublisher(call)
  const fields = await readFields()
  const [size, sha256] = [fields.size, requireText(fields, 'sha256')]
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new RegistryError('invalid_request', 'size must be the number of bytes of the file.')
  const ticket = uploads.announce(owner, { size, sha256 })
  return toJson({ uploadUrl: `${baseOf(host, call)}/api/v1/uploads/${ticket}`, uploadTicket: ticket })
}

async function upload({ host, call, params: { ticket = '' } }: Asked, uploads: Uploads) {
  const owner = requirePublisher(call)
  const size = uploads.sizeOf(owner, ticket)
  uploads.put(owner, ticket, await host.readBody(call, size))
  return toJson({ storageId: ticket })
}

/** POST /skills. */
async function publish({ host, call, api, readFields }: Asked, uploads: Uploads) {
  const owner = requirePublisher(call)
  const fields = await readFields()
  refuseUnsupported(fields)
  const files = readFiles(fields)
  const tickets = files.map(({ storageId }) => storageId)
  const given = files.map(({ path, storageId }) => ({ path, bytes: uploads.read(owner, storageId) }))
  const size = given.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  const { skill, version, quarantined } = await host.holding(call, 2 * size, async () => {
    try {
      const published = await api.publishSkill({ ...toMetadata(fields), ...toPackage(given) })
      uploads.drop(owner, tickets)
      return published
    } catch (error) {
      // The program repeats the request after these errors.
      if (!(error instanceof RegistryError && (error.status >= 500 || error.status === 429)))
        uploads.drop(owner, tickets)
      throw error
    }
  })
  const status = quarantined ? 'pending' : 'published'
  return toJson({
    ok: true,
    skillId: skill.id,
    versionId: version.digest,
    slug: skill.name,
    version: version.version,
    status,
    publicationStatus: status,
  })
}

function requirePublisher(call: GatewayCall): string {
  authorize(endpoints.publishSkill, call.caller)
  return requireUser(call)
}

/** Throws `invalid_request` for wishes that would be ignored otherwise. */
function refuseUnsupported(fields: Fields): void {
  const tags = toTexts(fields, 'tags') ?? []
  const problems = [
    tags.some((tag) => tag !== 'latest') && 'It has no tags but latest: publish without --tags.',
    fields.forkOf !== undefined && 'Use skillstead fork, then publish the fork as a skill of its own.',
    fields.migrateOwner === true && 'Use clawhub transfer to change the owner of a skill.',
  ].filter((problem) => typeof problem === 'string')
  if (problems.length > 0)
    throw new RegistryError('invalid_request', `This registry cannot do that. ${problems.join(' ')}`)
}

function toMetadata(fields: Fields) {
  const [category, ...others] = toTexts(fields, 'categories') ?? []
  if (others.length > 0) throw new RegistryError('invalid_request', 'A skill has one category here. Name one.')
  const repository = toText((fields.source ?? {}) as Fields, 'url')
  return {
    name: toSkillName(requireText(fields, 'slug'), toText(fields, 'ownerHandle')),
    version: requireText(fields, 'version'),
    displayName: toText(fields, 'displayName'),
    changelog: toText(fields, 'changelog'),
    keywords: toTexts(fields, 'topics'),
    category,
    repository,
  }
}

function readFiles({ files }: Fields): { path: string; storageId: string }[] {
  const isListed = Array.isArray(files) && files.every((file) => typeof file === 'object' && file !== null)
  if (!isListed) throw new RegistryError('invalid_request', 'files must be the list of uploaded files.')
  return files.map((file: Fields) => ({ path: requireText(file, 'path'), storageId: requireText(file, 'storageId') }))
}

/** Throws `invalid_skill` without a SKILL.md of UTF-8 text; the program accepts any case of its name. */
function toPackage(given: readonly { path: string; bytes: Uint8Array }[]) {
  const document = given.find(({ path }) => path.toLowerCase() === 'skill.md')
  if (!document) throw new RegistryError('invalid_skill', 'The folder has no SKILL.md.')
  const others = given.filter((file) => file !== document)
  return {
    skillMd: decode(document.bytes),
    files: others.map(({ path, bytes }) => ({
      path,
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
      encoding: 'base64' as const,
    })),
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RegistryError('invalid_skill', 'SKILL.md must be UTF-8 text.', { cause })
  }
}
