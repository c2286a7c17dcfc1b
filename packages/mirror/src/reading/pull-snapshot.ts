import { RegistryError, toShortName, toFields } from '@skillstead/protocol'
import { requireActive, type Run } from '../run.ts'
import { fetchJson } from '../snapshot/fetch-answer.ts'
import { drainSource, readSnapshotPlace, storeReleases } from '../snapshot/drain.ts'
import { createKnownReleases } from '../snapshot/known-releases.ts'
import { openSource, wantsListed } from '../snapshot/open-source.ts'
import { readListPage, type ListedSkill } from '../snapshot/registry-page.ts'
import { readListedSkill, toApiBase, type RegistryAccess } from '../snapshot/registry-reader.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import { createRefusals } from '../store/refusals.ts'
import type { Lacking } from './read-runs.ts'
import type { KnownSkill } from '../types.ts'

const readsMax = 2
const detailsBytesMax = 4 * 1024 * 1024

/**
 * Imports single skills of an upstream without a log. Returns the skills that the upstream lists but does not return.
 */
export async function pullFromSnapshot(run: Run, names: ReadonlySet<string>): Promise<Lacking> {
  if (run.upstream.kind === 'registry') return pullFromRegistry(run, names)
  await pullFromIndex(run, names)
  return new Map()
}

/** Requests each named skill from the registry, instead of reading its list of skills. */
async function pullFromRegistry(run: Run, names: ReadonlySet<string>): Promise<Lacking> {
  const refusals = await createRefusals(run.parts.context, run.upstream)
  const known = createKnownReleases(run.parts.context, run.upstream.name, true)
  const here = await known.find([...names])
  const lacking = new Map<string, string>()
  for (const fullName of names) {
    requireActive(run)
    const reading = await readWantedSkill(run, fullName, here.get(fullName)?.versions)
    if (reading === 'moved') lacking.set(fullName, 'The skill changed while it was read. Try again.')
    else if (reading && 'refused' in reading) lacking.set(fullName, reading.refused.detail)
    else if (reading) await storeReleases(run, refusals, [reading.release])
  }
  return lacking
}

/** Reads one skill; undefined if the skill does not exist, is excluded by filters, or is already stored. */
async function readWantedSkill(run: Run, fullName: string, here: KnownSkill['versions'] | undefined) {
  // Reads the skill again if a version was published meanwhile.
  for (let tries = 1; ; tries += 1) {
    const found = await findListed(run, fullName)
    if (!found || !wantsListed(run, found.listed) || here?.has(found.listed.version)) return undefined
    const reading = await readListedSkill(found.access, found.listed)
    if (reading === 'shown') return undefined
    if (reading !== 'moved' || tries === readsMax) return reading
  }
}

/**
 * Requests a skill by its short name, because paths of the base API contain no owner. Undefined if the short name is
 * that of another skill at the registry.
 */
async function findListed(
  run: Run,
  fullName: string,
): Promise<{ listed: ListedSkill; access: RegistryAccess } | undefined> {
  const base = toApiBase(run.upstream.location)
  const url = new URL(`${base}/skills/${toShortName(fullName)}`)
  const key = run.parts.readCredential(run.upstream)
  const askWith = async (apiKey: string | undefined) => {
    const answer = await fetchJson(run.http, { url, apiKey, bytesMax: detailsBytesMax })
    const { skills } = readListPage({ skills: [answer!.value], total: 1, totalPages: 1 }, url.origin)
    const listed = skills.find((skill) => skill.fullName === fullName)
    return listed && { listed, access: { base, http: run.http, apiKey } }
  }
  try {
    return await askWith(undefined)
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    if (error.code === 'not_found' || error.code === 'taken_down') return undefined
    // The request is sent again with the key if the registry shows nothing to guests.
    if (error.code !== 'unauthorized' || key === undefined) throw error
    return askWith(key)
  }
}

/** Reads the whole index, because it is small, for the requested skills and those that are already imported. */
async function pullFromIndex(run: Run, names: ReadonlySet<string>): Promise<void> {
  const here = await readMirroredNames(run.parts.context, run.upstream.name)
  const place = readSnapshotPlace(run.upstream.cursor)
  // The cursor is used without its ETag, because an unchanged index must be read, too.
  const read = run.upstream.kind === 'discovery' && toFields(place.public)['read']
  place.public = read ? { read } : null
  await drainSource(run, openSource(run, new Set([...here, ...names])), { place, part: 'public' })
}
