import type { StorageContext } from '../../storage/storage-context.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { getBlob } from '../../storage/read-blobs.ts'
import { parseJson } from '../../storage/tables.ts'
import { getSkillVersion } from '../skills/read-skill.ts'
import { toRecalledField } from '../versions/recalls.ts'
import { readStoredRequires } from '../versions/stored-requires.ts'
import { readScan } from '../versions/inspection.ts'
import { showAccess } from '../versions/version-changes.ts'
import { readFileRows } from '../versions/version-files.ts'
import { readForkChain } from './lineage.ts'

/** GET /skills/<name>/versions/<version>/sbom: the version, its files and its declared packages, in CycloneDX. */
export const showSbom: Operation<'getSbom', StorageContext> = async (context, input, caller) => {
  const { readDeclaredPackages, sbomType, writeSkillSbom } = await import('@skillstead/skill-format/sbom')
  const { skill, version } = await getSkillVersion(context, { ...input, allowRecalled: true }, caller)
  const { read } = context.database
  const files = await readFileRows(read, version.id)
  const readable = files.map(({ path, digest }) => ({ path, read: () => getBlob(context.database, digest) }))
  const { capabilities, ...metadata } = parseJson(version.metadata)
  // The owner's metadata apply to the version that describes the skill.
  const { description, license } = skill.described_by === version.version ? skill : metadata
  const bill = {
    name: skill.full_name,
    version: version.version,
    description,
    license,
    publisher: version.publisher,
    identity: version.identity === null ? undefined : parseJson(version.identity),
    digest: version.digest,
    files,
    declared: await readDeclaredPackages(readable),
    security: await readScan(read, version.id),
    access: (await showAccess(read, version)).access,
    capabilities,
    forkChain: await readForkChain(context, skill, caller),
    yanked: version.yanked === 1,
    recalled: toRecalledField(skill, version).recalled?.reason,
    requires: readStoredRequires(version),
  }
  return {
    contentType: sbomType,
    body: Buffer.from(writeSkillSbom(bill, version.published_at)),
    filename: `${skill.name}-${version.version}.cdx.json`,
  }
}
