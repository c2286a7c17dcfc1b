import { limits, RegistryError, type RegistryApi, type SkillVersion } from '@skillstead/protocol'

/** Maximum number of versions that one request reads. */
const versionsMax = 1000

/** The versions of a skill, highest first, in pages; at most {@link versionsMax}. */
export async function* readListedVersions(api: RegistryApi, name: string): AsyncGenerator<readonly SkillVersion[]> {
  const limit = limits.pageSizeMax
  for (let page = 1; page <= versionsMax / limit; page++) {
    const { versions, totalPages } = await api.listVersions({ name, page, limit })
    yield versions
    if (page >= totalPages) return
  }
}

/** All versions of a skill, highest first. Throws `conflict` if there are more than {@link versionsMax}. */
export async function readAllVersions(api: RegistryApi, name: string): Promise<SkillVersion[]> {
  const { total } = await api.listVersions({ name, limit: 1 })
  if (total > versionsMax) {
    throw new RegistryError(
      'conflict',
      `${name} has more than ${versionsMax} versions. Delete or restore them one by one, with --version.`,
    )
  }
  const versions: SkillVersion[] = []
  for await (const page of readListedVersions(api, name)) versions.push(...page)
  return versions
}
