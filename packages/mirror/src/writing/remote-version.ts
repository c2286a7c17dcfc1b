import { type RegistryApi, type SkillDetails, orUndefined, toShortName } from '@skillstead/protocol'
import type { SentPackage } from './package.ts'
import type { Sending } from './sending.ts'

/** A version that the upstream should have. */
export interface WantedVersion extends Pick<SentPackage, 'skillMd' | 'files' | 'digest'> {
  readonly version: string
}

/** A skill's details from an upstream, whose fields may have any type: the base API fixes the types of few fields. */
type Details = { readonly [K in keyof SkillDetails]?: unknown }

/**
 * The skill's name in a URL path at an upstream. A registry that has only the base API accepts only short names; the
 * short name must then resolve to this same skill.
 */
export async function findPathName(
  api: RegistryApi,
  { upstream }: Pick<Sending, 'upstream'>,
  fullName: string,
): Promise<string> {
  if (upstream.kind !== 'registry') return fullName
  const name = toShortName(fullName)
  const details = await readDetails(api, { name })
  return details && (details.fullName === undefined || details.fullName === fullName) ? name : fullName
}

/**
 * Whether an upstream has a version with the same content, for example from an attempt whose response was lost.
 * Compares the digests. If the upstream reports no digest, compares SKILL.md, for a version that has no other files.
 */
export async function hasSameContent(
  api: RegistryApi,
  sending: Pick<Sending, 'upstream'>,
  fullName: string,
  wanted: WantedVersion,
): Promise<boolean> {
  const { version } = wanted
  const name = await findPathName(api, sending, fullName)
  const details = await readDetails(api, { name, version })
  if (!details || (details.fullName ?? fullName) !== fullName) return false
  const digest = findRemoteDigest(details, version)
  if (digest !== undefined) return digest === wanted.digest
  if (details.latestVersion !== version || wanted.files.length > 0) return false
  const { body } = await api.getSkillMd({ name, version })
  return Buffer.from(body as Uint8Array).equals(Buffer.from(wanted.skillMd))
}

async function readDetails(api: RegistryApi, wanted: { name: string; version?: string }): Promise<Details | undefined> {
  const details: Details | null | undefined = await orUndefined(api.getSkill(wanted), 'not_found')
  return details ?? undefined
}

/**
 * The digest of a version, from the list of versions or, for the latest version, from the skill; undefined if neither
 * has it.
 */
function findRemoteDigest({ versions, latestVersion, digest }: Details, version: string): unknown {
  const listed: (Record<string, unknown> | null)[] = Array.isArray(versions) ? versions : []
  const one = listed.find((row) => row?.version === version)
  return one?.digest ?? (latestVersion === version ? digest : undefined) ?? undefined
}
