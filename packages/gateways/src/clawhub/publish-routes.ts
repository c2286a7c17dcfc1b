import {
  authorize,
  dropUploads,
  measureUploads,
  readUploads,
  storeUpload,
  unknownUpload,
  uploadKeptMs,
} from '@skillstead/core/internal'
import { endpoints, limits, RegistryError, attempt, toFields } from '@skillstead/protocol'
import { toPublishFile, type ArchiveFile } from '@skillstead/skill-format/archives'
import { createHash } from 'node:crypto'
import type { GatewayCall } from '../gateway.ts'
import { type Fields, requireText, readTextField } from '../body-fields.ts'
import {
  type Asked,
  baseOf,
  requireSignedIn,
  type RouteTable,
  toClawhubAnswer,
  toClawhubName,
  readTextList,
} from './route-table.ts'

/** Routes for publishing: a client announces and uploads each file, then publishes all files together. */
export const publishRoutes: RouteTable = {
  '/api/v1/skills/-/upload-url': { POST: announceUpload },
  '/api/v1/uploads/:ticket': { POST: acceptUpload },
}

async function announceUpload({ host, call, readFields }: Asked) {
  const userId = requireUploader(call)
  const fields = await readFields()
  const [size, sha256] = [fields.size, requireText(fields, 'sha256')]
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new RegistryError('invalid_request', 'size must be the number of bytes of the file.')
  if (size > limits.fileBytesMax)
    throw new RegistryError('payload_too_large', `The file is larger than ${limits.fileBytesMax} bytes.`)
  if (sha256.length > sha256Characters)
    throw new RegistryError('invalid_request', 'sha256 must be the SHA-256 of the file in hexadecimal digits.')
  const ticket = toTicket({ userId, size, sha256, endsAt: host.context.clock.now() + uploadKeptMs })
  return toClawhubAnswer({ uploadUrl: `${baseOf(host, call)}/api/v1/uploads/${ticket}`, uploadTicket: ticket })
}

async function acceptUpload({ host, call, params }: Asked) {
  const userId = requireUploader(call)
  const ticket = readTicket(params.ticket ?? '')
  if (ticket?.userId !== userId || ticket.endsAt <= host.context.clock.now()) throw unknownUpload()
  const bytes = await host.readBody(call, ticket.size)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (bytes.byteLength !== ticket.size || sha256 !== ticket.sha256)
    throw new RegistryError('invalid_request', 'The uploaded bytes differ from the announced file. Publish again.')
  return toClawhubAnswer({ storageId: await storeUpload(host.context, bytes, call.caller) })
}

const sha256Characters = 64

/** The content of an upload's ticket, which announces the upload by a user. `endsAt` is in milliseconds since 1970. */
interface Ticket {
  readonly userId: string
  readonly size: number
  readonly sha256: string
  readonly endsAt: number
}

/**
 * Encodes a ticket. It contains the announcement itself, so that no node stores announcements and no caller can fill a
 * store with them. A ticket needs no signature: a forged ticket gives a user no more than a real one.
 */
function toTicket({ userId, size, sha256, endsAt }: Ticket): string {
  return Buffer.from(JSON.stringify([userId, size, sha256, endsAt])).toString('base64url')
}

/** Parses a ticket; undefined for any other text. */
function readTicket(text: string): Ticket | undefined {
  const ticket = attempt<unknown>(() => JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  const [userId, size, sha256, endsAt]: unknown[] = Array.isArray(ticket) ? ticket : []
  const isTicket =
    typeof userId === 'string' && typeof sha256 === 'string' && typeof size === 'number' && typeof endsAt === 'number'
  return isTicket && size <= limits.fileBytesMax ? { userId, size, sha256, endsAt } : undefined
}

/** Answers `POST /skills`. */
export async function publishUploads({ host, call, api, readFields }: Asked) {
  requireUploader(call)
  const fields = await readFields()
  refuseUnsupported(fields)
  const files = readUploadedFiles(fields)
  const ids = files.map(({ storageId }) => storageId)
  const uploads = await measureUploads(host.context, ids, call.caller)
  const size = ids.reduce((sum, id) => sum + uploads.get(id)!, 0)
  if (size > limits.versionBytesMax)
    throw new RegistryError('payload_too_large', `The files have ${size} bytes; ${limits.versionBytesMax} are allowed.`)
  const drop = () => dropUploads(host.context, uploads).catch((error: unknown) => host.failed(call, error))
  const { skill, version, quarantined } = await host.holding(call, 3 * size, async () => {
    try {
      const read = await readUploads(host.context, uploads)
      const given = files.map(({ path, storageId }) => ({ path, bytes: read.get(storageId)! }))
      const published = await api.publishSkill({ ...toMetadata(fields), ...toPackage(given) })
      await drop()
      return published
    } catch (error) {
      // After other errors `clawhub` repeats the request, so the uploads are retained.
      if (error instanceof RegistryError && error.status < 500 && error.status !== 429) await drop()
      throw error
    }
  })
  const status = quarantined ? 'pending' : 'published'
  return toClawhubAnswer({
    ok: true,
    skillId: skill.id,
    versionId: version.digest,
    slug: skill.name,
    version: version.version,
    status,
    publicationStatus: status,
  })
}

/** The id of the calling user. Throws if the caller may not publish. */
function requireUploader(call: GatewayCall): string {
  const caller = requireSignedIn(call)
  authorize(endpoints.publishSkill, caller)
  return caller.userId
}

/** Throws `invalid_request` for options that this registry would ignore. */
function refuseUnsupported(fields: Fields): void {
  const tags = readTextList(fields, 'tags') ?? []
  const problems = [
    tags.some((tag) => tag !== 'latest') && 'It has no tags but latest: publish without --tags.',
    fields.forkOf !== undefined && 'Use skillstead fork, then publish the fork as a skill of its own.',
    fields.migrateOwner === true && 'Use clawhub transfer to change the owner of a skill.',
  ].filter((problem) => typeof problem === 'string')
  if (problems.length > 0)
    throw new RegistryError('invalid_request', `This registry does not support the request. ${problems.join(' ')}`)
}

function toMetadata(fields: Fields) {
  const [category, ...others] = readTextList(fields, 'categories') ?? []
  if (others.length > 0)
    throw new RegistryError('invalid_request', 'A skill has one category in this registry. Name a single category.')
  const repository = readTextField(toFields(fields.source), 'url')
  return {
    name: toClawhubName(requireText(fields, 'slug'), readTextField(fields, 'ownerHandle')),
    version: requireText(fields, 'version'),
    displayName: readTextField(fields, 'displayName'),
    changelog: readTextField(fields, 'changelog'),
    keywords: readTextList(fields, 'topics'),
    category,
    repository,
  }
}

function readUploadedFiles({ files }: Fields): { path: string; storageId: string }[] {
  const isListed = Array.isArray(files) && files.every((file) => typeof file === 'object' && file !== null)
  if (!isListed) throw new RegistryError('invalid_request', 'files must be the list of uploaded files.')
  return files.map((file: Fields) => ({ path: requireText(file, 'path'), storageId: requireText(file, 'storageId') }))
}

/**
 * Finds the SKILL.md, whose name may have any case, as in `clawhub`. Throws `invalid_skill` if it is missing or is not
 * UTF-8.
 */
function toPackage(given: readonly ArchiveFile[]) {
  const document = given.find(({ path }) => path.toLowerCase() === 'skill.md')
  if (!document) throw new RegistryError('invalid_skill', 'The folder has no SKILL.md.')
  const others = given.filter((file) => file !== document)
  return {
    skillMd: decodeUploadedSkillMd(document.bytes),
    files: others.map(toPublishFile),
  }
}

function decodeUploadedSkillMd(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RegistryError('invalid_skill', 'SKILL.md must be UTF-8 text.', { cause })
  }
}
