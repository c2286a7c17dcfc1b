import { RegistryError } from '@skillstead/protocol'
import { requireGoing, type Run } from '../run.ts'
import { askJson } from '../snapshot/ask.ts'
import { drain, readPlace, storeReleases } from '../snapshot/drain.ts'
import { createKnown } from '../snapshot/known.ts'
import { openSource, wantsListed } from '../snapshot/open-source.ts'
import { readListPage, type ListedSkill } from '../snapshot/registry-page.ts'
import { readListedSkill, toApiBase, type RegistryAccess } from '../snapshot/registry-reader.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import { createRefusals } from '../store/refusals.ts'

const detailsBytesMax = 4 * 1024 * 1024

/** Brings in single skills of an upstream without a log. */
export async function pullFromSnapshot(run: Run, names: ReadonlySet<string>): Promise<void> {
  if (run.upstream.kind === 'registry') await pullFromRegistry(run, names)
  else await pullFromIndex(run, names)
}

/** A registry is asked for each by its name, and for nothing else. */
async function pullFromRegistry(run: Run, names: ReadonlySet<string>): Promise<void> {
  const refusals = await createRefusals(run)
  const known = createKnown(run.parts.registry, run.upstream.name, true)
  const here = await known.find([...names])
  for (const fullName of names) {
    requireGoing(run)
    const found = await findListed(run, fullName)
    if (!found || !wantsListed(run, found.listed)) continue
    if (here.get(fullName)?.versions.has(found.listed.version)) continue
    const reading = await readListedSkill(found.access, found.listed)
    if (typeof reading === 'object' && 'release' in reading) await storeReleases(run, refusals, [reading.release])
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
  const here = await readMirroredNames(run.parts.registry, run.upstream.name)
  const place = readPlace(run.upstream.cursor)
  // Else what is unchanged as a whole is not looked at.
  const read = run.upstream.kind === 'discovery' && (place.public as { read?: unknown } | null)?.read
  place.public = read ? { read } : null
  await drain(run, openSource(run, new Set([...here, ...names])), { place, part: 'public' })
}
