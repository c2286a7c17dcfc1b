import { RegistryError } from '@skillstead/protocol'
import { requireActive, type Run } from '../run.ts'
import { askJson } from '../snapshot/ask.ts'
import { drain, readPlace, storeReleases } from '../snapshot/drain.ts'
import { createKnown } from '../snapshot/known.ts'
import { openSource, wantsListed } from '../snapshot/open-source.ts'
import { readListPage, type ListedSkill } from '../snapshot/registry-page.ts'
import { readListedSkill, toApiBase, type RegistryAccess } from '../snapshot/registry-reader.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import { createRefusals } from '../store/refusals.ts'
import type { Lacking } from './lanes.ts'
import type { KnownSkill } from '../types.ts'

const readsMax = 2
const detailsBytesMax = 4 * 1024 * 1024

/** Brings in single skills of an upstream without a log; answers what of them is there and not to be had. */
export async function pullFromSnapshot(run: Run, names: ReadonlySet<string>): Promise<Lacking> {
  if (run.upstream.kind === 'registry') return pullFromRegistry(run, names)
  await pullFromIndex(run, names)
  return new Map()
}

/** A registry is asked for each by its name, and for nothing else. */
async function pullFromRegistry(run: Run, names: ReadonlySet<string>): Promise<Lacking> {
  const refusals = await createRefusals(run.parts.context, run.upstream)
  const known = createKnown(run.parts.context, run.upstream.name, true)
  const here = await known.find([...names])
  const lacking = new Map<string, string>()
  for (const fullName of names) {
    requireActive(run)
    const reading = await readOne(run, fullName, here.get(fullName)?.versions)
    if (reading === 'moved') lacking.set(fullName, 'It changes as it is read.')
    else if (reading && 'refused' in reading) lacking.set(fullName, reading.refused.detail)
    else if (reading) await storeReleases(run, refusals, [reading.release])
  }
  return lacking
}

/** Undefined for what is not there, is not wanted, or is here. */
async function readOne(run: Run, fullName: string, here: KnownSkill['versions'] | undefined) {
  // Once more where a version was published just then.
  for (let tries = 1; ; tries += 1) {
    const found = await findListed(run, fullName)
    if (!found || !wantsListed(run, found.listed) || here?.has(found.listed.version)) return undefined
    const reading = await readListedSkill(found.access, found.listed)
    if (reading === 'shown') return undefined
    if (reading !== 'moved' || tries === readsMax) return reading
  }
}

/** By its short name, which is what the specification's paths take, if that is the same skill there. */
async function findListed(
  run: Run,
  fullName: string,
): Promise<{ listed: ListedSkill; access: RegistryAccess } | undefined> {
  const base = toApiBase(run.upstream.location)
  const url = new URL(`${base}/skills/${fullName.slice(fullName.indexOf('/') + 1)}`)
  const key = run.parts.readCredential(run.upstream)
  const askWith = async (apiKey: string | undefined) => {
    const answer = await askJson(run.http, { url, apiKey, bytesMax: detailsBytesMax })
    const { skills } = readListPage({ skills: [answer!.value], total: 1, totalPages: 1 }, url.origin)
    const listed = skills.find((skill) => skill.fullName === fullName)
    return listed && { listed, access: { base, http: run.http, apiKey } }
  }
  try {
    return await askWith(undefined)
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    if (error.code === 'not_found' || error.code === 'taken_down') return undefined
    // What shows guests nothing needs the key.
    if (error.code !== 'unauthorized' || key === undefined) throw error
    return askWith(key)
  }
}

/** An index is small: it is read again, for these and for what is here. */
async function pullFromIndex(run: Run, names: ReadonlySet<string>): Promise<void> {
  const here = await readMirroredNames(run.parts.context, run.upstream.name)
  const place = readPlace(run.upstream.cursor)
  // Else what is unchanged as a whole is not looked at.
  const read = run.upstream.kind === 'discovery' && (place.public as { read?: unknown } | null)?.read
  place.public = read ? { read } : null
  await drain(run, openSource(run, new Set([...here, ...names])), { place, part: 'public' })
}
