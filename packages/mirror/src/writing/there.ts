import { RegistryError, type RegistryApi, type SkillDetails } from '@skillstead/protocol'
import type { SentPackage } from './package.ts'
import type { Sending } from './send.ts'

/** A version as it is to be at the upstream. */
export interface WantedThere extends Pick<SentPackage, 'skillMd' | 'files' | 'digest'> {
  readonly version: string
}

/** Nothing of what registries answer that know the specification alone is certain: of bodies it shows next to none. */
type Said = { readonly [K in keyof SkillDetails]?: unknown }

/**
 * What a skill is called in a path at an upstream: a registry that knows the specification alone takes short names, which
 * have to lead to this very skill there.
 */
export async function findPathName(
  api: RegistryApi,
  { upstream }: Pick<Sending, 'upstream'>,
  fullName: string,
): Promise<string> {
  if (upstream.kind !== 'registry') return fullName
  const name = fullName.slice(fullName.indexOf('/') + 1)
  const said = await readDetails(api, { name })
  return said && (said.fullName === undefined || said.fullName === fullName) ? name : fullName
}

/**
 * Whether an upstream has a version as it is here: an attempt of which nobody heard made it. By its digest, and where it
 * tells none by SKILL.md where that is all.
 */
export async function isSameThere(
  api: RegistryApi,
  sending: Pick<Sending, 'upstream'>,
  fullName: string,
  wanted: WantedThere,
): Promise<boolean> {
  const { version } = wanted
  const name = await findPathName(api, sending, fullName)
  const said = await readDetails(api, { name, version })
  if (!said || (said.fullName ?? fullName) !== fullName) return false
  const digest = readDigest(said, version)
  if (digest !== undefined) return digest === wanted.digest
  if (said.latestVersion !== version || wanted.files.length > 0) return false
  const { body } = await api.getSkillMd({ name, version })
  return Buffer.from(body as Uint8Array).equals(Buffer.from(wanted.skillMd))
}

async function readDetails(api: RegistryApi, wanted: { name: string; version?: string }): Promise<Said | undefined> {
  try {
    return ((await api.getSkill(wanted)) as Said | null | undefined) ?? undefined
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return undefined
    throw error
  }
}

/** Of a version, or of the skill where it is the latest; undefined where nothing is said. */
function readDigest({ versions, latestVersion, digest }: Said, version: string): unknown {
  const listed = (Array.isArray(versions) ? (versions as unknown[]) : []) as (Record<string, unknown> | null)[]
  const one = listed.find((row) => row?.version === version)
  return one?.digest ?? (latestVersion === version ? digest : undefined) ?? undefined
}
